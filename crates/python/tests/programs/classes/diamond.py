class A:
    def f(self):
        return ['A']
class B(A):
    def f(self):
        return ['B'] + super().f()
class C(A):
    def f(self):
        return ['C'] + super().f()
class D(B, C):
    def f(self):
        return ['D'] + super().f()
print(D().f(), [k.__name__ for k in D.mro()])
class Mixin:
    def hello(self):
        return 'hello from ' + self.name
class N(Mixin, D):
    name = 'N'
print(N().hello(), N().f())
try:
    class Bad(A, B):
        pass
except TypeError as e:
    print(str(e).split('\n')[0])
