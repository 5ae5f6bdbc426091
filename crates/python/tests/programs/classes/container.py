class Seq:
    def __init__(self, n): self.n = n
    def __len__(self): return self.n
    def __getitem__(self, i):
        if isinstance(i, slice):
            return [self[j] for j in range(*i.indices(self.n))]
        if i < 0: i += self.n
        if not 0 <= i < self.n: raise IndexError('out')
        return i * i
s = Seq(5)
print(len(s), s[2], s[-1], s[1:4], list(s), 9 in s, 10 in s, [x for x in s], list(reversed(s)), max(s))
a, b, *c = s
print(a, b, c, bool(Seq(0)), list(zip(s, 'ab')), sorted(s, reverse=True))
