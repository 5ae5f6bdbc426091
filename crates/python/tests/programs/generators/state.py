def g(a, b=2):
    """doc"""
    c = yield a
    yield c
x = g(1)
print(type(x).__name__, g.__name__, x.__name__, iter(x) is x, hasattr(x, '__next__'))
print(next(x), x.send('sent'), list(x))
a = g(5); b = g(6)
print(next(a), next(b), next(a), next(b))
def selfish():
    yield
    list(s)
s = selfish(); next(s)
try:
    next(s)
except ValueError as e:
    print(e)
