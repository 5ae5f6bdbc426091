from enum import *
import enum
class Color(Enum):
    RED = 1
    GREEN = 'g'
    CRIMSON = 1
    def describe(self): return f'{self.name}:{self.value}'
    @classmethod
    def default(cls): return cls.RED
    @property
    def low(self): return self.name.lower()
print(Color.RED, repr(Color.RED), Color.RED.name, Color.RED.value, Color(1), Color['GREEN'], list(Color), len(Color), Color.CRIMSON is Color.RED, Color.RED.describe(), Color.default(), Color.RED.low)
print(Color.RED in Color, 1 in Color, 'zz' in Color, Color.__members__, Color.RED == 1, Color.RED is Color(1), hash(Color.RED) == hash(Color.RED), {Color.RED: 1}, f'{Color.RED}', '%s' % Color.RED, Color.RED != Color.GREEN)
for s in ("Color(99)", "Color['X']", "Color.X", "Color.RED < Color.GREEN", "Color()", "Color.RED.value.x"):
    try: print(eval(s))
    except Exception as e: print(type(e).__name__, e)
try: Color.RED = 5
except AttributeError as e: print(e)
try: del Color.RED
except AttributeError as e: print(e)
try:
    class Sub(Color): pass
except TypeError as e: print(e)
class I(IntEnum):
    A = 1; B = 2; C = auto()
print(I.A + 1, I.A < I.B, I.C, repr(I.C), int(I.B), f'{I.A}', [1, 2, 3][I.A], I(2), I.A == 1, sorted([I.B, I.A]), I.A | I.B, max(I), sum(I), json_ if 0 else '')
class S(StrEnum):
    X = auto(); Y = 'why'
print(S.X, repr(S.X), S.Y.upper(), S.X == 'x', f'{S.Y}', 'a' + S.X, S('why'), len(S.Y), S.X in ('x',))
class P(Flag):
    R = auto(); W = auto(); X = auto()
    RW = R | W
print(P.R, repr(P.R | P.X), P.R | P.W, P.RW, P.R in P.RW, ~P.R, P.R & P.W, bool(P.R & P.W), P(0), P(7), list(P.RW), P.RW.value, P.R ^ P.RW, len(P.RW), P(3), P['RW'], P.R | P.W is P.RW, list(P))
try: P(8)
except ValueError as e: print(e)
class F(IntFlag):
    A = 1; B = 2; C = 4
print(F.A | F.B, repr(F.A | F.B), F.A | 8, F(8), F.A + 1, F.A & 1, ~F.A, F(7), repr(F(0)), F.A | F.C == 5, int(F.A | F.C))
@unique
class U(Enum): A = 1; B = 2
try:
    @unique
    class U2(Enum): A = 1; B = 1
except ValueError as e: print(e)
A = Enum('A', 'X Y Z'); print(list(A), A.X.value, A(2), A.__module__)
A2 = Enum('A2', {'P': 10, 'Q': 20}); print(list(A2)); A3 = IntEnum('A3', ['K', 'L'], start=5); print(list(A3))
class Planet(Enum):
    MERCURY = (3.3e23, 2.4e6)
    EARTH = (5.9e24, 6.3e6)
    def __init__(self, mass, radius): self.mass, self.radius = mass, radius
    @property
    def g(self): return round(6.67e-11 * self.mass / self.radius ** 2, 2)
print(Planet.EARTH.g, Planet.EARTH.value, Planet((3.3e23, 2.4e6)), Planet.MERCURY.mass)
class Auto(Enum):
    def _generate_next_value_(name, start, count, last): return name.lower() + str(count)
    ONE = auto(); TWO = auto()
print([m.value for m in Auto])
class Miss(Enum):
    A = 'a'
    @classmethod
    def _missing_(cls, v):
        if isinstance(v, str) and v.lower() == 'a': return cls.A
print(Miss('A'))
try: Miss('B')
except ValueError as e: print(e)
class New(bytes, Enum):
    def __new__(cls, v, label):
        o = bytes.__new__(cls, [v]); o._value_ = v; o.label = label; return o
    PD = (1, 'x')
print(New.PD, New.PD.label, New.PD.value, New(1))
class Str(str, Enum):
    A = 'a'; B = 'b'
print(Str.A, repr(Str.A), Str.A == 'a', f'{Str.A}', str(Str.B), Str.A.value, {'a': 1}[Str.A], Str.A.upper(), '-'.join([Str.A, Str.B]))
class WithMethod(Enum):
    ADD = '+'
    def __call__(self, a, b): return a + b
    def __str__(self): return 'wm' + self.value
print(WithMethod.ADD(1, 2), WithMethod.ADD, f'{WithMethod.ADD}')
class Ignored(Enum):
    _ignore_ = ['tmp']
    tmp = 5
    A = 1
    @staticmethod
    def s(): return 's'
print(list(Ignored), Ignored.s())
match Color.RED:
    case Color.GREEN: print('g')
    case Color.RED: print('r')
class Mem(Enum):
    A = member(5); B = nonmember(6)
    @member
    def f(x): return x
print(Mem.A, Mem.B, Mem.f)
print(Color.__name__, type(Color), isinstance(Color.RED, Color), Color.RED.__class__, dir(Color)[:3], Color.__doc__, Color.RED.__doc__, Color.RED._name_, Color._member_names_, Color._value2member_map_)
import copy; print(copy.copy(Color.RED) is Color.RED, copy.deepcopy([Color.RED])[0] is Color.RED)
@verify(UNIQUE, CONTINUOUS)
class V(IntEnum): A = 1; B = 2
try:
    @verify(CONTINUOUS)
    class V2(IntEnum): A = 1; B = 3
except ValueError as e: print(e)
class B3(Flag, boundary=KEEP): A = 1
print(B3(5), B3(5).value)
class B4(Flag, boundary=CONFORM): A = 1
print(B4(5))
raise Color.RED
