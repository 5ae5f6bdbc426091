a, b = {'x': 1, 'y': 2}
c, d = (i * i for i in (2, 3))
e, f = map(int, '4 5'.split())
(g, h), *rest = [(1, 2), 3, 4]
print(a, b, c, d, e, f, g, h, rest)
for bad in ([1], [1, 2, 3], 5, '', {1: 2}):
    try:
        x, y = bad
    except (ValueError, TypeError) as err:
        print(err)
