from enum import Enum, IntEnum, auto, Flag, unique, StrEnum, IntFlag
class Color(Enum):
    RED = 1
    GREEN = 2
    CRIMSON = 1
    def describe(self): return f'{self.name}={self.value}'
print(Color.RED, repr(Color.RED), Color(2), Color['GREEN'], Color.CRIMSON is Color.RED, list(Color), len(Color), Color.RED.describe())
print(Color.RED == 1, Color.RED in Color, isinstance(Color.RED, Color), {Color.RED: 'r'}[Color(1)], [c.name for c in Color], Color.RED != Color.GREEN, sorted(Color.__members__))
class N(IntEnum):
    A = auto()
    B = auto()
print(N.A, N.B + 1, N.A < N.B, N(2), repr(N.A), f'{N.B}', [10, 20, 30][N.A], N.A == 1)
class S(StrEnum):
    X = auto()
    Y = 'why'
print(S.X, S.Y + '!', S('why'), repr(S.X), S.X == 'x')
class F(Flag):
    R = auto()
    W = auto()
    X = auto()
rw = F.R | F.W
print(rw, F.R in rw, F.X in rw, rw & F.W, bool(F.R & F.W), rw.value, repr(rw), ~F.R, list(rw))
class T(tuple, Enum):
    P = (1, 2)
print(T.P, T.P.value, T.P[0])
for f in (lambda: Color(9), lambda: Color['NO'], lambda: setattr(Color, 'RED', 5)):
    try:
        f()
    except (ValueError, KeyError, AttributeError) as e:
        print(type(e).__name__, e)
E2 = Enum('E2', 'A B')
print(list(E2), E2.B.value)
try:
    @unique
    class D(Enum):
        A = 1
        B = 1
except ValueError as e:
    print(e)
