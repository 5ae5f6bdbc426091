import copy
class A:
    def __init__(self, v): self.v, self.l = v, [v]
    def __copy__(self): return A(self.v + 1)
class B:
    def __init__(self): self.l = [1]; self.me = self
    def __deepcopy__(self, memo):
        b = B(); b.l = copy.deepcopy(self.l, memo) + ['dc']; return b
class C:
    def __init__(self): self.l = [[1]]
print(copy.copy(A(1)).v, copy.deepcopy(B()).l)
c = C()
d, e = copy.copy(c), copy.deepcopy(c)
c.l[0].append(2)
print(d.l, e.l, d.l is c.l)
