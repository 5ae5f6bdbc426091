import json
import tomllib

text = '''
# A training run.
title = "run \\u00e9 \\t\\"x\\""
[model]
layers = [ 4, 8,
  16, # more
]
rate = 1e-3
big = 1_000_000
neg = -17
inf = -inf
hex = 0xDEAD_BEEF
oct = 0o755
flag = true
name.first = 'C:\\path'
name."second one" = """
Lines \\
   joined
and ""quoted"" text"""
raw = \'\'\'a
b\'\'\'
point = { x = 1, y.z = 2.5, list = [{a = 1}, {}] }
when = 1979-05-27T07:32:00Z
day = 1979-05-27
hour = 07:32:00.5
local = 1979-05-27 07:32:00
[model.head]
n = 3
[[layer]]
kind = "a"
[[layer]]
kind = "b"
[layer.extra]
k = 1
[[layer.sub]]
q = 1
[a.b.c]
z = 1
[a]
y = 2
'''
d = tomllib.loads(text)
print(json.dumps(d, default=str, indent=1))
for bad in ("a = 1\na = 2", "a", "a = ", "[a]\n[a]", "a = [1, 2", "a = {b = 1\n}", "a = 1 b = 2", "[a\nb=1", "a = tru", "a.b = 1\n[a]\n", "x = 01", "a = {b = 1,}"):
    try:
        print(tomllib.loads(bad))
    except tomllib.TOMLDecodeError as e:
        print(repr(bad), e)
print(tomllib.loads("x = 0.1", parse_float=str))
