class N:
    def __init__(self, v): self.v = v
    def __add__(self, o): return NotImplemented
    def __radd__(self, o): return ('radd', o)
    def __rsub__(self, o): return ('rsub', o)
    def __pow__(self, o, m=None): return ('pow', o, m)
    def __rpow__(self, o): return ('rpow', o)
    def __floordiv__(self, o): return 'fd'
    def __mod__(self, o): return 'mod'
    def __rmod__(self, o): return 'rmod'
    def __divmod__(self, o): return 'dm'
print(1 + N(2), 1 - N(2), N(1) ** 2, 2 ** N(1), pow(N(1), 2, 3), N(1) // 2, N(1) % 2, 5 % N(1), divmod(N(1), 2))
for f in (lambda: N(1) + 1, lambda: N(1) - 1, lambda: N(1) + N(2)):
    try:
        print(f())
    except TypeError as e:
        print(e)
