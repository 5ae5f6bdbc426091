class A:
    def __init__(self, n): self.n = n
    def get(self, k=0): return self.n + k
a = A(5)
m = a.get
a.n = 6
print(m(), m(1), m.__self__ is a, m.__func__ is A.get, a.get == a.get, m.__name__)
print([f() for f in [A(i).get for i in range(3)]])
print(list(map(A(1).get, [1, 2])))
a.get = lambda: 'shadow'
print(a.get())
