from dataclasses import dataclass, field, asdict, astuple, replace, fields
from typing import List, Optional
@dataclass
class Config:
    lr: float
    layers: List[int] = field(default_factory=list)
    name: Optional[str] = None
    steps: int = 10
c = Config(0.1, name='x')
print(c, c == Config(0.1, [], 'x'), asdict(c), astuple(c), replace(c, lr=1), [f.name for f in fields(c)])
c.layers.append(3); print(c, Config(1).layers)
@dataclass(order=True, frozen=True)
class V:
    major: int
    minor: int = 0
print(V(1) < V(1, 2), sorted([V(2), V(1, 5)]), hash(V(1)) == hash(V(1, 0)), {V(1): 'a'}[V(1)])
try:
    V(1).major = 2
except Exception as e:
    print(type(e).__name__, e)
for f in (lambda: Config(), lambda: Config(1, 2, 3, 4, 5), lambda: Config(1, foo=2), lambda: V(1) < 5):
    try:
        f()
    except TypeError as e:
        print(e)
