assert True
assert 1 == 1, 'fine'
assert [0]
try:
    assert 1 > 2, f'{1} is not > {2}'
except AssertionError as e:
    print('caught', e, e.args)
try:
    assert False
except AssertionError as e:
    print(repr(e))
