from collections import namedtuple
from typing import NamedTuple
P = namedtuple('P', 'x y')
p = P(1, y=2)
print(p, p.x, p[1], p._fields, p._asdict(), p._replace(x=5), P._make([7, 8]), p == (1, 2), len(p), isinstance(p, tuple))
x, y = p; print(x, y, [*p], max(p), hash(p) == hash((1, 2)))
Q = namedtuple('Q', ['a', 'b', 'c'], defaults=[0, None]); print(Q(1), Q(1, 2, 3), Q._field_defaults)
class T(NamedTuple):
    name: str
    n: int = 3
    def double(self): return self.n * 2
print(T('a'), T('b', 5).double(), T('a')._fields, T.__annotations__['n'].__name__)
for f in (lambda: P(1), lambda: P(1, 2, 3), lambda: P(1, z=3), lambda: p._replace(q=1), lambda: namedtuple('A', 'class'), lambda: namedtuple('A', 'a a')):
    try:
        f()
    except (TypeError, ValueError) as e:
        print(e)
try:
    p.x = 1
except AttributeError as e:
    print(e)
