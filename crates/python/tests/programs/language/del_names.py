x = 1
del x
try:
    x
except NameError as e:
    print(e)
d = {'a': 1, 'b': 2}
del d['a']
print(d)
class C:
    pass
c = C()
c.v = 1
del c.v
print(hasattr(c, 'v'))
a, b, c = 1, 2, 3
del a, b
print(c)
def f():
    y = 1
    del y
    return y
try:
    f()
except UnboundLocalError as e:
    print(e)
