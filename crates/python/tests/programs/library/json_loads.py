import json
print(json.loads('{"a": [1, 2.5, null, true, "x\\n\\u00e9\\ud83d\\ude00"], "b": {}}'), json.loads(' [1, -2, 3e2, 0.5E-1] '), json.loads('"s"'), json.loads('12345678901234567890'), json.loads('NaN'), json.loads(b'{"k": 1}'), json.loads('[]'), json.loads('1'))
for bad in ('', '{', '[1,]', '{"a" 1}', '{"a": 1,}', '[1 2]', 'nul', '"abc', '{a: 1}', '[1] x', '"\\x"', '"\n"', '01', '-', '{"a":}', '[', '"\\u12"', "{'a': 1}", '\n\n  [1,\n 2,, 3]'):
    try:
        print(json.loads(bad))
    except json.JSONDecodeError as e:
        print(repr(bad), e)
print(json.loads('{"a": {"b": 1}}', object_hook=lambda d: sorted(d)), json.loads('{"a": 1, "a": 2}', object_pairs_hook=list), json.loads('[1.5, 2]', parse_float=str, parse_int=lambda s: -int(s)))
d = {'x': [1, {'y': None}], 'z': 'é'}
print(json.loads(json.dumps(d)) == d)
try:
    json.loads(5)
except TypeError as e:
    print(e)
