class Outer:
    class Inner:
        v = 1
        def who(self): return type(self).__qualname__
    def make(self): return self.Inner()
    class Config:
        lr = 0.1
print(Outer.Inner.v, Outer().make().who(), Outer.Config.lr)
def f():
    class Local:
        def g(self): pass
    return Local
print(f().__qualname__, f().g.__qualname__, Outer.make.__qualname__)
