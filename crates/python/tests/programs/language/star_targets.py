first, *rest = [1, 2, 3, 4]
print(first, rest)
*init, last = 'abc'
print(init, last)
a, *mid, z = range(2)
print(a, mid, z)
(x, *y), w = [(1, 2, 3), 4]
print(x, y, w)
for head, *tail in [(1, 2, 3), (4,)]:
    print(head, tail)
