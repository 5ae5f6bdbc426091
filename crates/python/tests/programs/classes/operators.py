class V:
    def __init__(self, *c):
        self.c = c
    def __add__(self, o):
        return V(*(a + b for a, b in zip(self.c, o.c)))
    def __sub__(self, o):
        return self + -o
    def __neg__(self):
        return V(*(-a for a in self.c))
    def __mul__(self, k):
        if isinstance(k, V):
            return sum(a * b for a, b in zip(self.c, k.c))
        return V(*(a * k for a in self.c))
    __rmul__ = __mul__
    def __truediv__(self, k):
        return V(*(a / k for a in self.c))
    def __eq__(self, o):
        return self.c == o.c
    def __abs__(self):
        return sum(a * a for a in self.c) ** 0.5
    def __repr__(self):
        return f'V{self.c}'
a, b = V(1, 2), V(3, 4)
print(a + b, b - a, -a, a * 2, 2 * a, a * b, b / 2, a == V(1, 2), a != b, abs(b))
