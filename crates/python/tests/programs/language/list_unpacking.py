a = [1, 2]
b = (3, 4)
print([*a, *b], [*a, 0, *'xy'], (*a, *b), {*a, *b, 1} == {1, 2, 3, 4})
print([*range(3)], *a, *b)
d = {'x': 1, **{'y': 2, 'x': 3}}
print(d, {**d, 'z': 0})
print([*d], [*d.items()])
