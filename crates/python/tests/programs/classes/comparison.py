class Ver:
    def __init__(self, *p): self.p = p
    def __eq__(self, o):
        if not isinstance(o, Ver): return NotImplemented
        return self.p == o.p
    def __lt__(self, o): return self.p < o.p
    def __hash__(self): return hash(self.p)
    def __repr__(self): return '.'.join(map(str, self.p))
vs = [Ver(1, 2), Ver(1, 0, 5), Ver(0, 9)]
print(sorted(vs), min(vs), max(vs), Ver(1) == Ver(1), Ver(1) != Ver(2), Ver(1) == 'x', Ver(1) > Ver(0))
print({Ver(1): 'a'}[Ver(1)], Ver(0, 9) in vs, vs.index(Ver(0, 9)))
try:
    Ver(1) <= Ver(2)
except TypeError as e:
    print(e)
class E:
    def __eq__(self, o): return True
try:
    hash(E())
except TypeError as e:
    print(e)
