class A:
    def __add__(self, o): return 'A.add'
    def __radd__(self, o): return 'A.radd'
class B(A):
    def __radd__(self, o): return 'B.radd'
print(A() + B(), B() + A(), A() + A())
class I(int):
    def __add__(self, o): return I(int(self) + int(o))
    def __repr__(self): return f'I({int(self)})'
print(I(3) + 4, 4 + I(3), I(3) * 2, I(5) == 5, sum([I(1), I(2)], I(0)))
