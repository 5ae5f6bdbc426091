class Base:
    kind = 'base'
    @classmethod
    def make(cls, *a):
        return cls(*a)
    @property
    def p(self):
        return 'base p'
    @staticmethod
    def s():
        return 'base s'
class Sub(Base):
    kind = 'sub'
    @classmethod
    def make(cls, *a):
        return super().make(*a)
    @property
    def p(self):
        return 'sub ' + super().p
    def k(self):
        return super().kind, super().s()
x = Sub.make()
print(type(x).__name__, x.p, x.k())
try:
    super(Sub, x).nothing
except AttributeError as e:
    print(e)
