class Point:
    dims = 2
    def __init__(self, x, y=0):
        self.x = x
        self.y = y
    def norm2(self):
        return self.x ** 2 + self.y ** 2
    def __repr__(self):
        return f'Point({self.x}, {self.y})'
p = Point(3, 4)
print(p, p.norm2(), p.dims, Point.dims, Point.norm2(p))
p.dims = 3
print(p.dims, Point.dims)
print(type(p).__name__, type(p) is Point, isinstance(p, Point), p.__class__.__name__)
print(Point.__name__, Point.__qualname__, Point.__module__, Point.__bases__ == (object,))
