x = [1, 2, 3, 4]
del x[0]
del x[-1], x[0]
print(x)
try:
    del x[5]
except IndexError as e:
    print(e)
d = {}
try:
    del d['q']
except KeyError as e:
    print(repr(e))
class A:
    z = 1
try:
    del A().z
except AttributeError as e:
    print(e)
