import json
print(json.dumps({'a': [1, 2.5, None, True, 'x"\n\u00e9'], 'b': {}, 'c': [], 1: 'i', None: 0, 1.5: 'f', True: 't'}))
print(json.dumps({'b': 1, 'a': [1, {'c': 2}]}, indent=2, sort_keys=True)); print(json.dumps([1, [2, 3]], indent='--')); print(json.dumps({'a': 1}, separators=(',', ':')), json.dumps('é😀', ensure_ascii=False), json.dumps('é😀'), json.dumps([]), json.dumps({}, indent=4), json.dumps([float('nan'), float('inf'), -0.0, 1e100, 10 ** 20]), json.dumps((1, 2)))
class A: pass
for v, kw in ((A(), {}), ({(1, 2): 3}, {}), (float('nan'), {'allow_nan': False}), ({1}, {}), ([A()], {})):
    try:
        print(json.dumps(v, **kw))
    except (TypeError, ValueError) as e:
        print(type(e).__name__, e)
print(json.dumps({'s': {1, 2}}, default=lambda o: sorted(o)), json.dumps({(1,): 2, 'a': 1}, skipkeys=True))
l = []; l.append(l)
try:
    json.dumps(l)
except ValueError as e:
    print(e)
