d = {'a': 1, 'b': 2}
try:
    for k in d:
        d[k + 'x'] = 1
except RuntimeError as e:
    print(e)
try:
    for k in d:
        del d[k]
except RuntimeError as e:
    print(e)
for k in list(d):
    d.pop(k)
print(d)
x = [1, 2, 3]
for v in x:
    if len(x) < 6:
        x.append(v * 10)
print(x)
s = {1}
try:
    for v in s:
        s.add(v + 1)
except RuntimeError as e:
    print(e)
