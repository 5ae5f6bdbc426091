class P:
    def __init__(self, n, a): self.n, self.a = n, a
    def __repr__(self): return f'{self.n}:{self.a}'
ps = [P('b', 2), P('a', 2), P('c', 1)]
print(sorted(ps, key=lambda p: (p.a, p.n)), sorted(ps, key=lambda p: p.a), max(ps, key=lambda p: p.n))
ps.sort(key=lambda p: p.n, reverse=True)
print(ps)
try:
    sorted(ps)
except TypeError as e:
    print(e)
from operator import attrgetter
print(sorted(ps, key=attrgetter('a', 'n')))
