class A:
    x = 1
    def __getattribute__(self, n):
        if n == 'secret':
            return 'found'
        return object.__getattribute__(self, n)
    def m(self): return self.secret
print(A().x, A().secret, A().m())
class B(A):
    def __getattr__(self, n):
        return 'fallback ' + n
print(B().x, B().zz)
