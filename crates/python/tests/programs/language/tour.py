class Meta:
    def __init_subclass__(cls, /, tag=None, **kw): super().__init_subclass__(**kw); cls.tag = tag
class A(Meta, tag="t"):
    __slots__ = ("a",)
    def __class_getitem__(cls, i): return f"A[{i}]"
    def __contains__(self, x): return x == 3
    def __len__(self): return 0
    def __call__(self, *a, **k): return (a, k)
    def __getitem__(self, k): return k
    def __enter__(self): return self
    def __exit__(self, *e): print(e[0].__name__ if e[0] else None); return True
    def __format__(self, s): return f"<{s}>"
    def __matmul__(self, o): return "mm"
    def __rsub__(self, o): return ("rsub", o)
    def __iadd__(self, o): return ("iadd", o)
    def __index__(self): return 2
    def __bool__(self): return True
    def __neg__(self): return "neg"
    def __divmod__(self, o): return "dm"
    def __round__(self, n=None): return ("r", n)
a = A(); print(A.tag, A[int], 3 in a, bool(a), a(1, k=2), a[1:2, ..., None], f"{a:>5}", a @ 1, 5 - a, [0, 1, 2, 3][a], -a, divmod(a, 2), round(a), round(a, 2), bin(a), "abc"[a])
with a: raise KeyError
a += 1; print(a)
class P:
    def __init__(self): self._x = 1
    @property
    def x(self): "doc"; return self._x
    @x.setter
    def x(self, v): self._x = v
    @x.deleter
    def x(self): del self._x
p = P(); p.x = 5; print(p.x, P.x.__doc__); del p.x
try: p.x
except AttributeError as e: print(e)
class Desc:
    def __set_name__(self, o, n): self.n = n
    def __get__(self, i, o=None): return self if i is None else i.__dict__.get(self.n, "unset")
    def __set__(self, i, v): i.__dict__[self.n] = v * 2
class Q: d = Desc()
q = Q(); print(q.d); q.d = 4; print(q.d, q.__dict__, Q.d.n)
class X:
    def who(self): return "X"
class Y(X):
    def who(self): return "Y" + super().who()
class Z(X):
    def who(self): return "Z" + super().who()
class W(Y, Z):
    def who(self): return "W" + super().who()
print(W().who(), [c.__name__ for c in W.__mro__], issubclass(W, X), W.__bases__)
def gen():
    try:
        x = yield 1
        print("got", x)
        y = yield from sub()
        print("sub", y)
    except GeneratorExit: print("exit"); raise
    finally: print("fin")
def sub():
    r = yield 2
    print("sub got", r)
    return 9
g = gen(); print(next(g), g.send("a"))
try: g.send("b")
except StopIteration as e: print("stop", e.value)
g = gen(); next(g); g.close()
g = gen(); next(g)
try: g.throw(ValueError("in"))
except ValueError as e: print("out", e)
def f(x):
    match x:
        case 0 | 1: return "small"
        case int(n) if n > 100: return f"big {n}"
        case [a, *rest]: return ("seq", a, rest)
        case {"k": v, **r}: return ("map", v, r)
        case str() as s: return "str " + s
        case P(_x=q): return ("P", q)
        case None: return "none"
        case _: return "other"
print([f(v) for v in (0, 200, [1, 2, 3], {"k": 1, "z": 2}, "s", P(), None, 3.5, ())])
print(*(lambda *a, k=1, **kw: (a, k, kw))(1, 2, k=3, z=4), sep="|", end="!\n")
x = [i for i in range(10) if (h := i % 3) == 0]; print(x, h)
print({**{"a": 1}, "b": 2}, [*range(3), *"ab"], (*[1], 2), {*[1, 1, 2]})
a, (b, *c), d = 1, (2, 3, 4), 5; print(a, b, c, d)
print(f"{3.14159:.2f} {1234567:,} {0.5:%} {255:#x} {'s':^7}| {42:08.3f} {1e10:g} {-5:+d} {x!r:>5} {'q'=} {h=:03d}")
try:
    try: {}["k"]
    except KeyError as e: raise RuntimeError("wrapped") from e
except RuntimeError as e: print(repr(e.__cause__), e.__suppress_context__)
def outer():
    n = 0
    def inc():
        nonlocal n; n += 1; return n
    return inc
i = outer(); i(); print(i(), i.__closure__[0].cell_contents, i.__qualname__)
print("%5.1f|%-6s|%+d|%x|%%|%r|%(a)s" % {"a": 1} if False else "%5.1f|%-6s|%+d|%x|%%|%r" % (3.14159, "ab", 5, 255, "q"))
print(int("ff", 16), int("0b101", 0), float("1e-3"), complex(1, -2) * 2j, 7 // -2, 7 % -2, -7 % 3.5, 2 ** -1, 10 ** 20, round(2.5), round(-1.5), round(1.005, 2), divmod(-7, 2), 0.1 + 0.2, 1e16, 1e-5, 123456789.123, float("nan"), -0.0)
print("a,b,,c".split(","), " x ".strip(), "abc".center(9, "*"), "a-b".partition("-"), "Hello".swapcase(), "ß".upper(), "x".join("abc"), "aXbX".rsplit("X", 1), "abc".translate(str.maketrans("ab", "12")), "tEST".title(), "1".zfill(3), "a\tb".expandtabs(4), "abc".encode().hex(), b"\x00a".decode(), "é".encode("utf-8"), "abcabc".find("c", 3), "%s" % ("t",), "abc"[::-1])
global_var = 1
def scope():
    global global_var; global_var = 2
    class K: v = global_var
    return K.v
print(scope(), global_var, sorted({"b": 1, "a": 2}.items(), key=lambda t: t[1]), max("abc", key=ord), min([], default=7), any([]), all([]), sum([0.1] * 3), list(map(lambda a, b: a + b, [1], [2])), list(filter(None, [0, 1, ""])), [*zip("ab", [1, 2], strict=True)], list(enumerate("a", 5)), isinstance(True, int), callable(len), hash(1.0) == hash(1), id(a) == id(a), type(3).__name__)
del global_var
try: global_var
except NameError as e: print(e)
assert True, "no"
try: assert 0, "yes"
except AssertionError as e: print(e)
