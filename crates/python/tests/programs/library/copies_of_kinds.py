"""Copies and streams of objects that say how they are made, and text above bytes."""
import copy
import copyreg
import datetime
import io
import os
import sys
import tempfile
from functools import singledispatchmethod


class Made:
    def __new__(cls, v):
        made = super().__new__(cls)
        made.v = v
        return made

    def __getnewargs__(self):
        return (self.v * 2,)


class Named:
    def __new__(cls, *, k):
        made = object.__new__(cls)
        made.k = k
        return made

    def __getnewargs_ex__(self):
        return (), {"k": self.k}


class Rows(list):
    pass


class Table(dict):
    pass


class Point:
    def __init__(self, x):
        self.x = x


rows, table = Rows([1]), Table(a=1)
rows.tag, table.tag = "r", ["t"]
print(copy.copy(Made(3)).v, copy.copy(Named(k=4)).k, copy.copy(rows).tag, type(copy.copy(table)).__name__, copy.deepcopy(table).tag)
copyreg.pickle(Point, lambda p: (Point, (p.x + 1,)))
print(copy.copy(Point(1)).x, copy.deepcopy([Point(1)])[0].x)
moment = datetime.datetime(2024, 1, 2, 3, 4, tzinfo=datetime.timezone.utc)
print(copy.deepcopy({"m": moment, "d": moment.date(), "t": moment.time(), "l": moment - moment}))

stream = io.TextIOWrapper(io.BytesIO("é\r\nx".encode()), encoding="utf8")
print(repr(stream.readline()), repr(stream.read()), io.BytesIO(b"abc").getbuffer().nbytes)
out = io.TextIOWrapper(io.BytesIO(), encoding="utf8", write_through=True)
out.write("é")
out.flush()
print(out.buffer.getvalue())
sys.stdout.writelines(["a\n", "b\n"])
sys.stdout.writelines(f"{x}\n" for x in range(2))
fd, name = tempfile.mkstemp(suffix=".x")
with os.fdopen(fd, "w") as file:
    file.write("kept")
print(open(name).read(), name.endswith(".x"))


class Shows:
    @singledispatchmethod
    def show(self, x):
        return "any"

    @show.register
    def _(self, x: int):
        return "int"

    @show.register
    @classmethod
    def _(cls, x: str):
        return cls.__name__


print(Shows().show(1), Shows().show("s"), Shows().show(2.0))
from decimal import Decimal
from fractions import Fraction
from statistics import NormalDist, pvariance, variance

print(variance([Decimal("27.5"), Decimal("30.25"), Decimal("30.25"), Decimal("34.5"), Decimal("41.75")]), pvariance([Fraction(1, 4), Fraction(5, 4), Fraction(1, 2)]))
n = NormalDist(10, 2)
print(n + 5, n * 2, n - NormalDist(1, 1), round(n.overlap(NormalDist(11, 3)), 9), [round(x, 9) for x in n.quantiles(4)], -n)
try:
    a, *b = 7
except TypeError as e:
    print(e)
