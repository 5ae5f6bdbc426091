import io
match = 3
match += 1
print(match)
case = [1,2]; match = 5; print(match, case); match: int = 6; type = 4; print(type)
type: int = 3
def f(match, case=1, *, type=None): return match, case, type
print(f(1, case=2, type=3))
import re
match = re.match("a", "abc"); print(match.group(0))
match.foo if False else None
match
match, case = 1, 2
print(match, case)
match = {}
match[0] = 1
match["a"] = [1]
print(match)
match = lambda *a: a
match(1, 2)
print(match(1), match
 (2))
class A:
    match = 1
    case = 2
    type = 3
    def type(self): return 1
match (1)
match [0:1] if False else 0
match -1 if False else 0
match * 2 if False else 0
type (1) if False else 0
type = int
type(1)
if True: match = 7; type = 8; case = 9
print(match, type, case)
for match in [1]: case = match; type = case; print(type)
match = match if match else 0
assert match == 1
match is None
match in [1]
match not in [1]
match and 1
match == 1; match != 2; match < 3; match or 0
match @ 1 if False else 0
match, = [4]
print(match)
x = match; match = x
type X = int
print(X.__name__)
del match
match = [1, 2]
match [0] = 5
match [0] += 5
print(match)
(match) = 6
def g():
    match = 1; return match
print(g())
def h():
    type = 5; type += 1; return type
print(h())
match = type = case = _ = 1
match = 3; match
match 1:
    case 1: print("one")
match (1, 2):
    case (a, b): print(a, b)
match [1, 2]:
    case [a, b]: print(a, b)
match -1:
    case -1: print("neg")
match match:
    case case: print(case)
match *[1], 2:
    case [1, 2]: print("star")
match {}:
    case {}: print("dict")
match lambda x: 1:
    case z: print(z(1))
match not 1:
    case False: print("not")
match (x := 3):
    case 3: print(x)
match x, 2:
    case 3, 2: print("tup")
match (1):
    case match if match: print(match)
match "a" "b":
    case "ab": print("str")
match [1][0]:
    case 1: print("sub")
match print.__name__:
    case "print": print("p")
match type:
    case type: print(type)
match = {1:2}
print(match[1]); match[1] = 3; print(match[1]); match.update({3:4}); print(match)
type = {1:2}; type[1] = 4; print(type)
match: int
match : int = 3
print([match for match in [1]], {match: 1}, f"{match}")
with io.StringIO() as match: pass
try:
    1/0
except ZeroDivisionError as match: print(match)
import os as match, sys as case
from os import path as type
match.getcwd
global_ = lambda match: match
print(global_(match=4))
match = 1
match if 1 else 2
print(match.real) ; match
type = 1
type if 1 else 2
type -1
type[1] if False else 0
case(1) if False else 0
match
match = (yield_ := 2)
type.real
match >> 1; match | 1; match ** 2; match // 1; match % 2; match & 1; match ^ 1; match <= 1; match >= 1; match << 1
match ;match;
x = 1; match = 2; match += 1; print(match, x); match: int = 5; print(match)
x = [1]; \
match = x; match[0] = 3; match.append(4); print(match)
type X = int; match = 7; print(match)
def k():
    x = 1; match = 2
    for i in range(1): x; match = i + 9; match
    try: x; match.real
    except ValueError: x; match
    finally: x; match += 1
    with io.StringIO() as f: x; match, y = match, 2
    if x: x; match if match else 0; match == 1 < 2; match or x
    return match
print(k())
class B:
    x = 1; match = "class"; type = 2
    def match_(self): x = 2; match = 3; return match + x
print(B.match, B().match_())
s = "; match = 1"; match = f"{s}; match"; print(match)
