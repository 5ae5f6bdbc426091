from collections import defaultdict, ChainMap, UserDict
class Default(dict):
    def __missing__(self, key):
        return f"<{key}>"
print("%(a)s to %(b)5s|" % Default(a=1), "%(x)d%%" % ChainMap({"x": 3}), "%(y)r" % UserDict(y="q"))
for bad in (object(), 3, "s"):
    try:
        print("%(a)s" % bad)
    except TypeError as e:
        print(e)
class V:
    def __str__(self): return "v"
print("%s and" % V(), "[%r]" % Default(a=1))
try:
    "abc" % V()
except TypeError as e:
    print(e)
print(int | str == str | int, int | str | int, hash(int | str) == hash(str | int), (int | int) is int, int | None == None | int, {int | str: 1}[str | int])
class Recorder(dict):
    def __init__(self): super().__init__(); self.order = []
    def __setitem__(self, key, value):
        if not key.startswith("__"):
            self.order.append(key)
        super().__setitem__(key, value)
class Meta(type):
    @classmethod
    def __prepare__(mcls, name, bases, **kw):
        return Recorder()
    def __new__(mcls, name, bases, namespace, **kw):
        cls = super().__new__(mcls, name, bases, namespace)
        cls.order = namespace.order
        return cls
class A(metaclass=Meta):
    x = 1
    x = 2
    def f(self): return self.x
    for i in range(2):
        pass
    vars()["made"] = i
    class Inner: y = 3
print(A.order, A().f(), A.made, A.Inner.y, type(A.__dict__).__name__)
from enum import Enum, IntEnum, auto, unique
from datetime import timedelta
for body in ("SQUARE = 2\n    SQUARE = 3", "A = auto()\n    B = auto()\n    A = 5"):
    try:
        exec("class S(Enum):\n    " + body)
        print("made", list(S) if "S" in dir() else "")
    except TypeError as e:
        print(type(e).__name__, e)
class Period(timedelta, Enum):
    "lengths"
    _ignore_ = "Period i"
    Period = vars()
    for i in range(4):
        Period["day_%d" % i] = i
print(list(Period), Period.day_1, Period.day_2.value, Period.day_2 + Period.day_1, Period.day_3 == timedelta(3), hasattr(Period, "i"))
class Vowel(str, Enum):
    A = "a"; E = "e"
print(Vowel.A, Vowel("a"), list(Vowel))
from dataclasses import dataclass, field
class IntConversion:
    def __init__(self, *, default): self._default = default
    def __set_name__(self, owner, name): self._name = "_" + name
    def __get__(self, obj, type):
        return self._default if obj is None else getattr(obj, self._name, self._default)
    def __set__(self, obj, value): setattr(obj, self._name, int(value))
@dataclass
class Item:
    n: IntConversion = IntConversion(default=100)
i = Item(); print(i.n); i.n = 2.5; print(i.n, i, Item(7.9))
from typing import Generic, TypeVarTuple, Unpack, Callable
Ts = TypeVarTuple("Ts")
class Arr(Generic[*Ts]): pass
def call(f: Callable[[*Ts], None], *args: *Ts): f(*args)
call(print, 1, 2)

import random, shutil, os, tempfile, logging, sys, statistics
class Fixed(random.Random):
    "Another source, as the documentation shows."
    def random(self):
        return 0.25 + super().random() / 2
f = Fixed(3)
print([round(f.random(), 6) for _ in range(2)], f.randrange(10), f.choice("abc"), round(f.expovariate(0.5), 6), f.sample(range(9), 3))
class Bits(random.Random):
    def getrandbits(self, k):
        return super().getrandbits(k) & ~1
print([Bits(1).randrange(8) for _ in range(3)], random.Random(1).randrange(8))
print(statistics.median_grouped([1, 2, 2, 3, 4, 4, 4, 4, 4, 5], interval=2), [round(v, 6) for v in statistics.NormalDist(10, 2).samples(2, seed=3)], statistics.NormalDist(1, 2).zscore(5))
folder = tempfile.mkdtemp()
os.makedirs(folder + "/a/b")
for name in ("x.py", "x.pyc", "b/y.txt"):
    open(f"{folder}/a/{name}", "w").write(name)
shutil.copytree(folder + "/a", folder + "/c", ignore=shutil.ignore_patterns("*.pyc", "b"))
print(sorted(os.listdir(folder + "/c")), sorted(os.listdir(folder + "/a")))
old = logging.getLogRecordFactory()
def factory(*args, **kwargs):
    record = old(*args, **kwargs)
    record.run = 7
    return record
logging.setLogRecordFactory(factory)
logging.basicConfig(format="%(run)s %(message)s", stream=sys.stdout)
logging.warning("well")
from unittest import mock
with mock.patch("__main__.open", mock.mock_open(read_data="text")):
    print(open("nowhere").read())
import pathlib
print(repr(pathlib.PurePath("a") / "b"), bytes(pathlib.Path("a")))
m = mock.Mock(return_value=None)
m(1), m(1, 2), m(object())
print(m.mock_calls == [mock.call(1), mock.call(1, 2), mock.ANY], m.mock_calls == [mock.call(1), mock.ANY])
m = mock.MagicMock()
m(1).method(arg="foo").other("bar")(2.0)
chain = mock.call(1).method(arg="foo").other("bar")(2.0)
print(chain.call_list(), m.mock_calls == chain.call_list())
