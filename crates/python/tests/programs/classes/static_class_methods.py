class D:
    base = 10
    def __init__(self, v):
        self.v = v
    @classmethod
    def from_str(cls, s):
        return cls(int(s) + cls.base)
    @staticmethod
    def helper(a, b):
        return a * b
class E(D):
    base = 100
print(D.from_str('5').v, E.from_str('5').v, type(E.from_str('1')).__name__)
print(D.helper(2, 3), D(0).helper(4, 5))
print(D(1).from_str('2').v)
f = E.from_str
print(f('7').v, f.__self__ is E)
