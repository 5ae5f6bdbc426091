class Bag:
    def __init__(self, *x): self.x = x
    def __contains__(self, v): return v in self.x or v == 'always'
    def __iter__(self): return iter(self.x)
b = Bag(1, 2)
print(1 in b, 5 in b, 'always' in b, 'no' not in b, list(b), tuple(b), sum(b), set(b) == {1, 2}, *b)
class Count:
    def __init__(self, n): self.i, self.n = 0, n
    def __iter__(self): return self
    def __next__(self):
        if self.i >= self.n: raise StopIteration
        self.i += 1
        return self.i
print(list(Count(3)), [x for x in Count(2)], 2 in Count(5))
c = Count(2)
print(next(c), next(c), next(c, 'end'))
