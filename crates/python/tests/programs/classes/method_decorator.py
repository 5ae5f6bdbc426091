import functools
def log(f):
    @functools.wraps(f)
    def inner(self, *a, **k):
        print('call', f.__name__, a, k)
        r = f(self, *a, **k)
        print('->', r)
        return r
    return inner
class A:
    def __init__(self): self.n = 0
    @log
    def add(self, v, times=1):
        "adds"
        self.n += v * times
        return self.n
a = A()
a.add(2)
a.add(3, times=2)
print(A.add.__name__, A.add.__doc__, a.add.__wrapped__.__name__ if hasattr(a.add, '__wrapped__') else None)
