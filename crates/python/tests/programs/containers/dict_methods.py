d = {'a': 1, 'b': 2}
print(d['a'], d.get('z'), d.get('z', 0), d.setdefault('c', 3), d.setdefault('a', 9), d, list(d), list(d.values()), list(d.items()), 'a' in d, len(d))
print(d.pop('a'), d.pop('zz', None), d.popitem(), d); d.update({'x': 1}, y=2); d.update([('z', 3)]); print(d)
d2 = d.copy(); d.clear(); print(d, d2, dict.fromkeys('ab', 0), dict.fromkeys([1]))
for f in (lambda: d['q'], lambda: d.pop('q'), lambda: d.popitem(), lambda: {[]: 1}):
    try:
        f()
    except (KeyError, TypeError) as e:
        print(type(e).__name__, e)
