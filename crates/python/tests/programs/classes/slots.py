class S:
    __slots__ = ('a', 'b')
    def __init__(self): self.a = 1
s = S()
print(s.a, hasattr(s, 'b'), S.__slots__)
s.b = 2
print(s.b)
try:
    s.c = 3
except AttributeError as e:
    print(e)
