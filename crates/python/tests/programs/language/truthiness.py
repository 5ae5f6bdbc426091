class A:
    def __bool__(self):
        return False
class B:
    def __len__(self):
        return 0
class C:
    pass
print(bool(A()), bool(B()), bool(C()), not A())
if A() or B():
    print('no')
else:
    print('falsy')
class D:
    def __bool__(self):
        return 1
try:
    bool(D())
except TypeError as e:
    print(e)
