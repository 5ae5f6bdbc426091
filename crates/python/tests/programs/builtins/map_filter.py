print(list(map(str, range(3))), list(map(max, [1, 5], [3, 2])), list(filter(lambda x: x % 2, range(6))), list(map(lambda *a: a, 'ab', 'cd', 'ef')), [*map(abs, (-1, 2))], set(map(type, [1, 2])) == {int})
print(dict(map(lambda kv: (kv[0], kv[1] * 2), {'a': 1}.items())), tuple(filter(None, (0, 1, 2))), sum(map(len, ['a', 'bb'])))
