for i, c in enumerate('abc', start=1):
    print(i, c)
print(list(zip([1, 2, 3], 'ab')), list(zip()), dict(zip('ab', [1, 2])), list(zip(*[(1, 'a'), (2, 'b')])), list(enumerate([])), [i * x for i, x in enumerate([5, 6])])
a, b = zip(*[(1, 2), (3, 4)])
print(a, b, list(zip(range(3), range(3, 6), 'xyz')))
try:
    list(zip([1], [1, 2], strict=True))
except ValueError as e:
    print(e)
