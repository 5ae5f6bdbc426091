it = iter([1, 2])
print(next(it), next(it), next(it, 'default'))
try:
    next(it)
except StopIteration as e:
    print('stop', e.args)
print(list(iter('ab')), next(iter({5: 6}.items())), list(iter(range(2))), sum(iter((1, 2))))
for bad in (5, None, print):
    try:
        iter(bad)
    except TypeError as e:
        print(e)
try:
    next([1])
except TypeError as e:
    print(e)
