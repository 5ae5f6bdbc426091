from dataclasses import dataclass, field, InitVar, KW_ONLY, asdict, is_dataclass
from typing import ClassVar
@dataclass
class Base:
    a: int
    count: ClassVar[int] = 0
    def __post_init__(self):
        self.total = self.a * 2
@dataclass
class Sub(Base):
    b: str = 'b'
    hidden: int = field(default=5, repr=False, compare=False)
    scale: InitVar[int] = 1
    def __post_init__(self, scale):
        super().__post_init__()
        self.total *= scale
s = Sub(3, 'c', scale=10)
print(s, s.total, s.hidden, asdict(s), s == Sub(3, 'c', 99), Sub.count, is_dataclass(s), is_dataclass(int))
@dataclass
class K:
    x: int
    _: KW_ONLY
    y: int = 2
    z: int
print(K(1, z=3), K.__match_args__)
@dataclass(eq=False, repr=False)
class N:
    v: list = field(default_factory=lambda: [1])
print(N().v, N() == N())
try:
    @dataclass
    class Bad:
        x: list = []
except ValueError as e:
    print(e)
try:
    @dataclass
    class Bad2:
        x: int = 1
        y: int
except TypeError as e:
    print(e)
for f in (lambda: K(1, 2, z=3), lambda: K(1)):
    try:
        f()
    except TypeError as e:
        print(e)
