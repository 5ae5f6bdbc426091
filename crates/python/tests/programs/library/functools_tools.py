import functools
@functools.lru_cache(maxsize=2)
def sq(x):
    print('compute', x)
    return x * x
print(sq(2), sq(2), sq(3), sq(4), sq(2), sq.cache_info())
sq.cache_clear(); print(sq.cache_info())
@functools.cache
def fib(n): return n if n < 2 else fib(n - 1) + fib(n - 2)
print(fib(90), fib.cache_info().hits)
class C:
    @functools.cached_property
    def v(self):
        print('once'); return 5
c = C(); print(c.v, c.v, vars(c))
@functools.total_ordering
class V:
    def __init__(self, n): self.n = n
    def __eq__(self, o): return self.n == o.n
    def __lt__(self, o): return self.n < o.n
print(V(1) <= V(2), V(3) > V(2), V(2) >= V(2))
print(sorted([3, 1, 2], key=functools.cmp_to_key(lambda a, b: b - a)))
@functools.singledispatch
def show(x): return 'any'
@show.register
def _(x: int): return 'int'
@show.register(list)
def _(x): return 'list'
print(show(1), show([]), show('s'), show(True))
