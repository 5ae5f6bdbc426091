from collections import defaultdict, OrderedDict, ChainMap
d = defaultdict(list)
for k, v in [('a', 1), ('b', 2), ('a', 3)]:
    d[k].append(v)
print(d, dict(d), d.get('zz'), 'zz' in d, d['zz'], len(d))
n = defaultdict(int); n['x'] += 5; print(n, defaultdict(lambda: 'dflt')['q'], defaultdict(list, a=[1]))
t = defaultdict(lambda: defaultdict(int)); t['a']['b'] += 1; print({k: dict(v) for k, v in t.items()})
o = OrderedDict([('a', 1), ('b', 2)]); o['c'] = 3; o.move_to_end('a'); print(o, o.popitem(last=False), list(o), OrderedDict(a=1) == {'a': 1}, OrderedDict())
m = ChainMap({'a': 1}, {'a': 2, 'b': 3}); print(m['a'], m['b'], sorted(m), len(m), m)
