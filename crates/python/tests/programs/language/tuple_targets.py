a, b = 1, 2
a, b = b, a
print(a, b)
(c, d), e = (3, 4), 5
print(c, d, e)
[f, g] = 'xy'
print(f, g)
for i, (j, k) in enumerate([(1, 2), (3, 4)]):
    print(i, j, k)
h, = [9]
print(h)
