class A:
    def __repr__(self):
        return 'repr-A'
class B(A):
    def __str__(self):
        return 'str-B'
class C:
    def __format__(self, spec):
        return f'<{spec}>'
print(A(), str(A()), B(), repr(B()), [B()], f'{B()} {B()!r}')
print(f'{C():>5}', format(C(), 'x'), '{:abc}'.format(C()))
class D:
    def __repr__(self):
        return 5
try:
    repr(D())
except TypeError as e:
    print(e)
