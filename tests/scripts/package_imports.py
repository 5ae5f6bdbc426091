"""What packages ask of the modules around torch when they are imported: where modules are, versions, names of types, functions that wait."""

import cmath
import copy
import functools
import http.client
import importlib
import math
import numpy as np
import os
import pkgutil
import struct
import tempfile
import torch
import types
import typing

# Where modules are, without running them.
folder = tempfile.mkdtemp()
os.makedirs(os.path.join(folder, "pkg_of_mine", "inner"))
for name, text in (("__init__.py", "raise RuntimeError('it ran')"), ("inner/__init__.py", ""), ("inner/leaf.py", "")):
    with open(os.path.join(folder, "pkg_of_mine", name), "w") as file:
        file.write(text)
with open(os.path.join(folder, "settings.py"), "w") as file:
    file.write("rate = 3\ndef twice():\n    return 2 * rate\n")
import sys
sys.path.insert(0, folder)
spec = importlib.util.find_spec("pkg_of_mine")
print(spec.name, os.path.basename(spec.origin), spec.submodule_search_locations == [os.path.join(folder, "pkg_of_mine")])
print(importlib.util.find_spec("no_such_module_at_all"), importlib.util.find_spec("math") is not None)
print([(m.name, m.ispkg) for m in pkgutil.iter_modules([folder])])
spec = importlib.util.spec_from_file_location("mine", os.path.join(folder, "settings.py"))
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
module.rate = 5
print(module.__name__, module.twice(), pkgutil.resolve_name("os.path:join") is os.path.join)

# What installed packages say of themselves.
os.makedirs(os.path.join(folder, "Some_Package-1.2.3.dist-info"))
with open(os.path.join(folder, "Some_Package-1.2.3.dist-info", "METADATA"), "w") as file:
    file.write("Metadata-Version: 2.1\nName: Some-Package\nVersion: 1.2.3\nRequires-Dist: torch>=2\nRequires-Dist: numpy\n\nText.\n")
importlib.invalidate_caches() if hasattr(importlib, "invalidate_caches") else None
from importlib.metadata import PackageNotFoundError, metadata, requires, version
print(version("some-package"), requires("some.package"), metadata("Some_Package")["Name"])
try:
    version("no-such-package")
except PackageNotFoundError as e:
    print(type(e).__name__, e)

# A module may have functions that wait; one that is never called does no harm.
class Sink:
    async def emit(self, record):
        async with record as r:
            async for part in r:
                await part
print(Sink.emit.__name__, struct.calcsize("P"), issubclass(http.client.RemoteDisconnected, ConnectionError))
print([hasattr(types, n) for n in ("FrameType", "CodeType", "TracebackType", "CellType", "CoroutineType", "MethodDescriptorType")])

# Numbers that are a class of their own have their own rounding and conversions.
class Number(float):
    def __round__(self, digits=None):
        return f"rounded to {digits}"
    def __floor__(self):
        return "floor"
    def __int__(self):
        return 7
    def __float__(self):
        return 2.5
x = Number(1.25)
print(round(x), round(x, 1), math.floor(x), math.ceil(x), int(x), float(x))
print([repr(round(v, 3)) for v in (np.cos(0.3), np.float64(2.0))])
z = 1 + 2j
print(z == z, z != z, z in [z], complex("nan") == complex("nan"))
for f in (cmath.acos, cmath.acosh, cmath.asin, cmath.asinh, cmath.atan, cmath.atanh, cmath.tan, cmath.tanh):
    print(f.__name__, *("%.6f %.6f" % (v.real, v.imag) for v in map(f, (0.3 + 0.4j, -2 + 0.5j, 3 + 0j, complex(-3, -0.0), 0.25j))))

# Unions with classes that say themselves what is one of them.
class Meta(type):
    def __instancecheck__(cls, x):
        return x == 3
    def __subclasscheck__(cls, c):
        return c is int
class Three(metaclass=Meta):
    pass
print(isinstance(3, str | Three), isinstance(None, str | Three | None), isinstance(4, str | Three), issubclass(int, str | Three | None))
print(isinstance(np.float32(3), float | np.floating | np.bool_), isinstance(3, np.bool_ | str), isinstance(True, np.bool_ | bool | None))

# Copies of what there is one of.
kept = copy.deepcopy({"dtype": torch.float16, "f": functools.partial(torch.nn.functional.softmax, dim=-1, dtype=torch.float32)})
print(kept["dtype"] is torch.float16, kept["f"](torch.zeros(2)))

# Classes of the library that take parameters, and types that hold them.
import collections
import contextlib
import queue
import re
counts = collections.defaultdict[str, list[int]](list)
counts["a"].append(1)
print(counts, collections.deque[int]([1, 2], maxlen=3), collections.deque[int], functools.partial[int], re.Pattern[str], queue.Queue[int])
class Quiet(contextlib.AbstractContextManager["Quiet"]):
    def __exit__(self, *exception):
        return True
class Last(collections.deque[int]):
    pass
with Quiet():
    raise ValueError
print(Last([1]), Last.__mro__[1].__name__, issubclass(Quiet, contextlib.AbstractContextManager))
class Own:
    pass
pair, lists = tuple[Own, Own], tuple[typing.List[Own], typing.List[Own]]
print(pair == lists, lists == tuple[typing.List[Own], typing.List[Own]], hash(lists) == hash(tuple[typing.List[Own], typing.List[Own]]))
print(typing.Union[pair, lists], typing.Union[np.bool_, bool] is not bool)
class Strict:
    def __new__(cls, *args):
        return super().__new__(cls, *args)
for make in (lambda: Own[int], lambda: Strict(1)):
    try:
        make()
    except TypeError as e:
        print(e)
