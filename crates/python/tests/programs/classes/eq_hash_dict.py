class K:
    def __init__(self, v): self.v = v
    def __eq__(self, o): return isinstance(o, K) and self.v % 10 == o.v % 10
    def __hash__(self): return self.v % 10
d = {K(1): 'a', K(11): 'b', K(2): 'c'}
print(len(d), d[K(21)], K(2) in d, K(3) in d)
s = {K(1), K(2), K(12)}
print(len(s), sorted(k.v for k in s))
print([K(5)].count(K(15)), [K(1), K(2)].index(K(12)))
