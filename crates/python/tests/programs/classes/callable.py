class Adder:
    def __init__(self, n): self.n = n
    def __call__(self, x, *args, scale=1, **kw):
        return (x + self.n) * scale + len(args) + len(kw)
a = Adder(3)
print(a(1), a(1, 2, 3), a(1, scale=10), a(1, z=1), callable(a), callable(3), callable(Adder), callable(print))
print(list(map(a, range(3))))
try:
    (5)()
except TypeError as e:
    print(e)
class P(Adder):
    def __call__(self, x):
        return -super().__call__(x)
print(P(1)(2))
