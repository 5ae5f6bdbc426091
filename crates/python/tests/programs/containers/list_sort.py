data = [('b', 2), ('a', 2), ('c', 1), ('a', 1)]
print(sorted(data), sorted(data, key=lambda t: t[1]), sorted(data, key=lambda t: (-t[1], t[0])))
data.sort(key=lambda t: t[0], reverse=True)
print(data)
print(sorted([True, 0, 2.5, -1]), sorted(['b', 'A', 'c'], key=str.lower), sorted({'z': 1, 'a': 2}), sorted([[2], [1, 5], []]))
idx = sorted(range(4), key=[30, 10, 40, 20].__getitem__)
print(idx, sorted('hello', key='olhe'.index))
try:
    [1, 'a'].sort()
except TypeError as e:
    print(e)
