class M:
    def __init__(self, v):
        self.v = v
    def __matmul__(self, o):
        return M(self.v * o.v)
    def __rmatmul__(self, o):
        return M(o * 100)
    def __imatmul__(self, o):
        self.v += o.v
        return self
    def __repr__(self):
        return f'M({self.v})'
a, b = M(2), M(3)
print(a @ b, 5 @ a)
a @= b
print(a)
try:
    1 @ 2
except TypeError as e:
    print(e)
