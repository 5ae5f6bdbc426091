class Positive:
    def __set_name__(self, owner, name):
        self.name = '_' + name
        print('set_name', owner.__name__, name)
    def __get__(self, o, t=None):
        if o is None:
            return self
        return getattr(o, self.name, 0)
    def __set__(self, o, v):
        if v < 0:
            raise ValueError(f'{self.name[1:]} must be positive')
        setattr(o, self.name, v)
class A:
    w = Positive()
    h = Positive()
    def __init__(self, w):
        self.w = w
a = A(3)
print(a.w, a.h, vars(a), type(A.w).__name__)
try:
    a.h = -1
except ValueError as e:
    print(e)
class NonData:
    def __get__(self, o, t): return 'nd'
class B:
    x = NonData()
b = B()
print(b.x)
b.__dict__['x'] = 'inst'
print(b.x)
