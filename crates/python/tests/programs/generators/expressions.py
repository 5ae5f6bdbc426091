g = (x * x for x in range(4))
print(next(g), list(g), list(g))
print(sum(x for x in range(5) if x % 2), ''.join(c.upper() for c in 'abc'), dict((k, len(k)) for k in ['a', 'bb']), max((len(w), w) for w in 'a bbb cc'.split()))
n = 2
lazy = (x * n for x in [1, 2])
n = 10
print(list(lazy), any(x > 2 for x in iter([1, 2, 3, 4])), type(lazy).__name__)
def first(it): return next((x for x in it if x > 5), None)
print(first([1, 7, 9]), first([]))
