class A:
    c = 1
    def __init__(self): self.i = 2
    def m(self): pass
a = A()
print([n for n in dir(a) if not n.startswith('_')])
print(vars(a), a.__dict__ is vars(a))
a.__dict__['new'] = 3
print(a.new)
print(getattr(a, 'm').__name__, hasattr(a, 'zz'))
try:
    getattr(a, 'zz')
except AttributeError as e:
    print(e, e.name, e.obj is a)
