class C:
    x = 1
    y = x + 1
    for i in range(3):
        pass
    def f(self, d=y): return d
    if x:
        g = lambda self: 'g'
    z = [n for n in range(2)]
    a, b = 3, 4
print(C.y, C.i, C().f(), C().g(), C.z, C.a, C.b)
C.h = lambda self, v: v + self.x
print(C().h(5))
c = C()
c.k = lambda: 'instance function'
print(c.k())
print(sorted(k for k in vars(C) if not k.startswith('__')))
