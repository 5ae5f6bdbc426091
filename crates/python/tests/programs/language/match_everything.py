from dataclasses import dataclass
from collections import OrderedDict, deque, defaultdict, namedtuple
from enum import Enum
class C(Enum): A = 1; B = 2
@dataclass
class Pt: x: int; y: int
NT = namedtuple('NT', 'a b')
class Obj:
    __match_args__ = ('a', 'b')
    def __init__(self, **k): self.__dict__.update(k)
def f(v):
    match v:
        case None | True | False: return ('singleton', v)
        case 0 | 1 | 2 as small: return ('small', small)
        case int(n) if n < 0: return ('neg', n)
        case int() | float() as num: return ('num', num)
        case '': return 'empty str'
        case 'a' | 'b': return 'ab'
        case str() as s if s.startswith('x'): return ('xstr', s)
        case str(s): return ('str', s)
        case b'z': return 'bytes'
        case []: return 'empty'
        case [x]: return ('one', x)
        case [1, *rest]: return ('1+', rest)
        case [x, [y, *_], *mid, z]: return ('nest', x, y, mid, z)
        case (x, y): return ('pair', x, y)
        case [_, _, *_]: return 'many'
        case {'type': 'circle', 'r': r, **rest}: return ('circle', r, rest)
        case {'k': [a, {'b': b}]}: return ('deep', a, b)
        case {'n': int() as n, 'm': None}: return ('nm', n)
        case {}: return ('dict', len(v))
        case Pt(0, 0): return 'origin'
        case Pt(x=0, y=yy): return ('yaxis', yy)
        case Pt(x, y) if x == y: return ('diag', x)
        case Pt(): return 'pt'
        case C.A: return 'C.A'
        case C(): return 'C other'
        case NT(a, b): return ('nt', a, b)
        case Obj(1, b=2): return 'obj12'
        case Obj(a=a): return ('obj', a)
        case complex(real=r): return ('cx', r)
        case _: return 'other'
for v in (None, True, 0, 2, 5, -3, 1.5, '', 'a', 'xyz', 'hello', b'z', b'y', [], [7], [1, 2, 3], [5, [6, 7], 8, 9], [5, [6], 9], (1, 2), (3, 4), (3, 4, 5), {'type': 'circle', 'r': 2, 'c': 3}, {'k': [1, {'b': 2}]}, {'n': 1, 'm': None}, {'n': 'x'}, {}, Pt(0, 0), Pt(0, 5), Pt(3, 3), Pt(1, 2), C.A, C.B, NT(1, 2), Obj(a=1, b=2), Obj(a=3), Obj(z=1), 3 + 4j, {1, 2}, range(3), range(1), deque([1, 2]), iter([1]), bytearray(b'z'), OrderedDict(type='circle', r=1), defaultdict(int, {'n': 5, 'm': None})):
    print(type(v).__name__, f(v))
x = 5
match x:
    case y: print('capture', y)
match (1, 2), 3:
    case (a, b), c: print(a, b, c)
match 1, 2:
    case 1, z: print(z)
match {'a': 1, 'b': 2}:
    case {'a': 1, **kw}: print(kw)
match [1, [2, [3, 4]]]:
    case [a, [b, [*c]]]: print(a, b, c)
match 'abc':
    case [*_]: print('seq')
    case _: print('not seq')
match -1:
    case -1: print('neg one')
match 3 + 4j:
    case 3 + 4j: print('complex lit')
match 'p':
    case ('p' | 'q') as letter: print(letter)
for s in ("match 1:\n  case x: pass\n  case 2: pass", "match 1:\n  case x | 1: pass", "match 1:\n  case [x, x]: pass", "match 1:\n  case {'a': 1, 'a': 2}: pass", "match 1:\n  case 1 | y: pass", "match 1:\n case {**r, 'a': 1}: pass", "match 1:\n  case int(1, 2): pass", "match Obj():\n  case Obj(1,2,3): pass", "match Obj(a=1):\n  case Obj(1,a=2): pass", "match 1:\n  case x.y(): pass", "match 1:\n  case 5(): pass", "match 1:\n case [*a, *b]: pass", "match 1:\n case a.b: pass", "match int:\n case 3: pass\n case f(): pass"):
    try: exec(s); print('fine')
    except Exception as e: print(type(e).__name__, e)
match = 5; case = 6; print(match, case); type = 3; print(type, match * case)
def g(cmd):
    match cmd.split():
        case ['go', ('north' | 'south') as d]: return f'go {d}'
        case ['go', *_]: return 'go where'
        case ['get', obj] | ['pick', 'up', obj]: return f'get {obj}'
        case ['drop', *objs] if objs: return f'drop {objs}'
        case [] : return 'nothing'
        case _: return 'huh'
print([g(c) for c in ('go north', 'go', 'get x', 'pick up y', 'drop a b', 'drop', '', 'fly')])
