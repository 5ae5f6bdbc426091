d = {'a': 1, 'b': 2}
k, v, i = d.keys(), d.values(), d.items()
print(k, v, i, len(k), 'a' in k, 2 in v, ('a', 1) in i)
d['c'] = 3
print(list(k), sorted(k & {'a', 'z'}), sorted(k | {'z'}), sorted(k - {'a'}), k == {'a', 'b', 'c'})
print(list(reversed(d)), list(reversed(d.items())), [*d], sorted(d, reverse=True), max(d, key=d.get))
for key, value in d.items():
    print(key, value)
