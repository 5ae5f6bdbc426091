it = iter([1, 2, 3, 4, 5])
print(list(zip(it, it)), list(it))
it = iter('abc')
for x in it:
    print(x, next(it, None))
print(list(map(lambda a, b: a * b, [1, 2, 3], [4, 5])), list(filter(str.isdigit, 'a1b2')), next(iter({'k': 1})), list(iter(lambda c=[0]: c.__setitem__(0, c[0] + 1) or c[0], 4)))
m = map(str, [1, 2]); print(next(m), list(m), list(m))
r = reversed('abc'); print(next(r), list(r))
print(tuple(zip('ab', (x for x in range(9)))), [*map(len, ['a', 'bb'])])
