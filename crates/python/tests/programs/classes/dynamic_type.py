A = type('A', (), {'x': 1, 'f': lambda self: self.x + 1})
B = type('B', (A,), dict(x=5))
print(A().f(), B().f(), B.__name__, B.__mro__[1] is A, type(B))
print(A.__dict__['x'])
