class Temp:
    def __init__(self):
        self._c = 0
    @property
    def f(self):
        "doc of f"
        return self._c * 9 / 5 + 32
    @f.setter
    def f(self, v):
        self._c = (v - 32) * 5 / 9
    @f.deleter
    def f(self):
        print('deleted')
    @property
    def ro(self):
        return 1
t = Temp()
print(t.f)
t.f = 212
print(t._c, Temp.f.__doc__)
del t.f
for action in (lambda: setattr(t, 'ro', 2), lambda: delattr(t, 'ro')):
    try:
        action()
    except AttributeError as e:
        print(e)
