import collections, itertools, functools, operator
from collections import OrderedDict, ChainMap, deque, Counter, namedtuple, defaultdict
P = namedtuple("P", "x y z", defaults=[0])
p = P(1, 2)
print(p, p._replace(z=5), p._asdict(), P._fields, P._field_defaults, P._make([4, 5, 6]))
c = Counter("abracadabra"); c.subtract("aab"); print(c, c.most_common(2), +c, c.total(), sorted(c.elements()))
d = deque([1, 2, 3], maxlen=4); d.extendleft([0, -1]); d.rotate(2); print(d, d.index(2), d.count(1), d.maxlen)
m = ChainMap({"a": 1}, {"a": 2, "b": 3}); m["c"] = 4; print(m, m.parents, dict(m), m.new_child({"b": 0})["b"])
o = OrderedDict(a=1, b=2, c=3); o.move_to_end("a"); print(o, o.popitem(last=False), list(reversed(o)))
dd = defaultdict(lambda: defaultdict(int)); dd["x"]["y"] += 1; print(dd["x"], "q" in dd, len(dd))
print(list(itertools.accumulate([1, 2, 3, 4], operator.mul, initial=2)), list(itertools.pairwise("abcd")), list(itertools.batched(range(7), 3)))
print([(k, list(g)) for k, g in itertools.groupby("aabbbc")], list(itertools.starmap(pow, [(2, 3), (3, 2)])))
print(list(itertools.islice(itertools.cycle("ab"), 2, 7, 2)), list(itertools.zip_longest("ab", "c", fillvalue="-")), list(itertools.compress("abcd", [1, 0, 1, 1])))
print(list(itertools.chain.from_iterable([[1], [2, 3]])), list(itertools.combinations_with_replacement("ab", 2)), list(itertools.dropwhile(str.isdigit, "12a3")))
a, b = itertools.tee(iter([1, 2, 3])); print(next(a), list(b), list(a))
@functools.lru_cache(maxsize=2)
def f(x, *, y=1): print("call", x, y); return x * y
print(f(1), f(2), f(1), f(3), f(2), f.cache_info()); f.cache_clear(); print(f.cache_info(), f.__wrapped__(9))
@functools.singledispatch
def show(x): return "any"
@show.register
def _(x: int): return "int"
@show.register(list)
def _(x): return "list"
print(show(1), show([]), show("s"), show(True))
@functools.total_ordering
class V:
    def __init__(self, n): self.n = n
    def __eq__(self, o): return self.n == o.n
    def __lt__(self, o): return self.n < o.n
print(V(1) >= V(0), V(1) <= V(1), V(2) > V(3))
part = functools.partial(int, base=2); print(part("101"), part.func, part.keywords, functools.reduce(operator.add, [[1], [2]], []))
print(operator.itemgetter(1, 0)("ab"), operator.attrgetter("real", "imag")(3), operator.methodcaller("upper")("x"), operator.index(True), operator.concat("a", "b"))
class C:
    @functools.cached_property
    def v(self): print("once"); return 3
c = C(); print(c.v, c.v, c.__dict__)
