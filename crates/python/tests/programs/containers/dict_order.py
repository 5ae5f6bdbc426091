d = {}
for k in 'zebra':
    d[k] = len(d)
print(d)
del d['e']; d['e'] = 'back'; d['z'] = 'same place'
print(d, list(d)[0], next(iter(d)), d == dict(reversed(list(d.items()))))
print(dict(sorted(d.items())), {**{'b': 1, 'a': 2}, 'b': 3})
