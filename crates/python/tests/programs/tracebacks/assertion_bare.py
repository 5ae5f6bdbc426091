def shape_check(a, b):
    assert len(a) == len(b)
shape_check([1], [1, 2])
