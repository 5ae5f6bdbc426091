from dataclasses import dataclass, field, fields, asdict, astuple, replace, is_dataclass, FrozenInstanceError, KW_ONLY, InitVar, make_dataclass, MISSING
from typing import ClassVar, Optional
@dataclass
class P:
    x: int
    y: int = 2
    tags: list = field(default_factory=list)
    hidden: int = field(default=5, repr=False, compare=False)
    total: ClassVar[int] = 0
p = P(1); print(p, p == P(1), p == P(2), p != 5, asdict(p), astuple(p), replace(p, x=9))
print([f.name for f in fields(P)], fields(P)[1].default, fields(P)[0].default is MISSING, fields(p)[2].default_factory)
try: P()
except TypeError as e: print(e)
try: P(1, 2, 3, 4, 5)
except TypeError as e: print(e)
try: P(1, z=3)
except TypeError as e: print(e)
try: hash(p)
except TypeError as e: print(e)
@dataclass(frozen=True, order=True)
class F:
    a: int
    b: str = 'q'
f = F(1); print(f, hash(f) == hash(F(1)), f < F(2), f <= F(1), sorted([F(3), F(1), F(2, 'a')]), F(1) > F(1, 'a'))
try: f.a = 3
except FrozenInstanceError as e: print(type(e).__name__, e)
try: del f.a
except AttributeError as e: print(type(e).__name__, e)
try: f < 5
except TypeError as e: print(e)
@dataclass(kw_only=True, slots=True)
class K:
    a: int
    b: int = 1
print(K(a=1), K.__slots__)
try: K(1)
except TypeError as e: print(e)
try: K(a=1).zz = 3
except AttributeError as e: print(e)
@dataclass
class Kw:
    a: int
    _: KW_ONLY
    b: int = 2
    c: int
print(Kw(1, c=3))
@dataclass
class Init:
    a: int
    scale: InitVar[int] = 2
    b: int = field(init=False)
    def __post_init__(self, scale): self.b = self.a * scale
print(Init(3), Init(3, 5).b, Init(3, scale=7))
try:
    @dataclass
    class Bad:
        a: int = 1
        b: int
except TypeError as e: print(e)
try:
    @dataclass
    class Bad2:
        a: list = []
except ValueError as e: print(e)
@dataclass
class Child(P):
    z: float = 0.5
    x: str = 'over'
print(Child(), [f.name for f in fields(Child)], Child('a', 1))
@dataclass(repr=False, eq=False)
class Plain: a: int = 1
print(Plain() == Plain(), is_dataclass(Plain), is_dataclass(Plain()), is_dataclass(5))
@dataclass
class Node:
    v: int
    kids: list['Node'] = field(default_factory=list)
n = Node(1, [Node(2), Node(3, [Node(4)])]); print(n, asdict(n)); n.kids.append(n); print(n)
M = make_dataclass('M', ['a', ('b', int), ('c', int, field(default=3))], namespace={'dbl': lambda s: s.a * 2}); print(M(1, 2), M(1, 2).dbl(), M.__annotations__)
print(asdict(Node(1, [Node(2)]), dict_factory=lambda kv: {k.upper(): v for k, v in kv}))
@dataclass(unsafe_hash=True)
class H: a: int; b: int = field(default=1, hash=False)
print(hash(H(1)) == hash(H(1, 2)))
@dataclass
class Gen[T]:
    v: T
print(Gen[int](3), Gen(4))
match p:
    case P(x=1, y=yy): print('matched', yy)
match F(1, 'z'):
    case F(a, b): print(a, b)
@dataclass
class WithProp:
    name: str
    meta: dict = field(default_factory=dict, metadata={'k': 1})
    def __str__(self): return f'<{self.name}>'
w = WithProp('n'); print(w, repr(w), f'{w}', fields(w)[1].metadata, fields(w)[1].metadata['k'])
try: fields(5)
except TypeError as e: print(e)
try: asdict(5)
except TypeError as e: print(e)
try: replace(Init(1), b=3)
except (ValueError, TypeError) as e: print(e)
