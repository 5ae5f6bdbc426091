class C: pass
c = C()
setattr(c, 'a', 1)
print(getattr(c, 'a'), getattr(c, 'b', None), hasattr(c, 'a'), hasattr(c, 'b'))
for name in ('x', 'y'):
    setattr(c, name, name.upper())
print(vars(c)); delattr(c, 'x'); print(c.__dict__)
try:
    delattr(c, 'x')
except AttributeError as e:
    print(e)
print(getattr('abc', 'upper')(), getattr([3, 1], 'sort').__name__)
try:
    getattr(c, 5)
except TypeError as e:
    print(e)
