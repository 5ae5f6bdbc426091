# Hostile scripts: `### name: what is said` and a text each. `Stopped.` is said to those that run until they are stopped.
### endless loop: Stopped.
while True: pass
### endless loop that catches: Stopped.
while True:
    try:
        while True: pass
    except BaseException: pass
### endless finally: Stopped.
def f():
    try:
        while True: pass
    finally:
        while True: pass
f()
### endless generator: Stopped.
import itertools
for i in itertools.count(): pass
### endless sum: Stopped.
import itertools
print(sum(itertools.count()))
### endless list of a generator: MemoryError
import itertools
x = list(str(i) * 1000 for i in itertools.count())
### endless property: RecursionError
class A:
    def __getattr__(self, name): return getattr(self, name + "x")
A().y
### endless iteration of a class: MemoryError
class A:
    def __iter__(self): return self
    def __next__(self):
        self.n = getattr(self, "n", 0) + 1
        return str(self.n) * 1000
list(A())
### list of a billion: MemoryError
x = [0] * 10**9
### list that doubles: MemoryError
x = [0]
while True: x += x
### text of ten billion: MemoryError
x = "a" * 10**10
### text that grows: MemoryError
x = []
while True: x.append("y" * 1000000)
### text joined: MemoryError
x = ",".join(["y" * 10**6] * 10**5)
### text replaced: MemoryError
x = ("a" * 10**6).replace("a", "b" * 10**6)
### text formatted: Error
x = "%999999999999d" % 1
### format spec: Error
x = f"{1:>99999999999}"
### text centred: MemoryError
x = "x".center(10**12)
### bytes of ten billion: MemoryError
x = bytes(10**10)
### bytes that grow: MemoryError
x = bytearray(b"x")
while True: x += x
### deep recursion: RecursionError
def f(n): return f(n + 1)
f(0)
### deep recursion without limit: Error
import sys
sys.setrecursionlimit(10**9)
def f(n): return f(n + 1)
f(0)
### recursion in repr: RecursionError
class A:
    def __repr__(self): return repr(self)
print(A())
### recursion in eq: RecursionError
a, b = [], []
a.append(b)
b.append(a)
print(a == b)
### recursion in hash: RecursionError
class A:
    def __hash__(self): return hash((self,))
{A(): 1}
### nested list: done
x = []
for i in range(10**5): x = [x]
del x
print("done")
### nested list printed: Error
x = []
for i in range(10**5): x = [x]
print(x)
### nested tuple copied: RecursionError
import copy
x = ()
for i in range(10**5): x = (x,)
copy.deepcopy(x)
### list in itself copied: done
import copy
x = []
x.append(x)
y = copy.deepcopy(x)
assert y[0] is y
print("done")
### pickled cycle: done
import io, torch
x = {"a": 1}
x["self"] = x
try:
    torch.save(x, io.BytesIO())
except Exception as e:
    print(type(e).__name__)
print("done")
### output flood: more than is kept
for i in range(10**5): print("x" * 50)
### output flood without an end: Stopped.
while True: print("x" * 1000)
### error output flood: more than is kept
import sys
for i in range(10**4): sys.stderr.write("x" * 1000)
### figures without an end: done
import matplotlib.pyplot as plt
for i in range(100):
    plt.figure()
    plt.plot([i, 1])
plt.show()
print("done")
### files without an end: Error
i = 0
while True:
    with open(f"/{i}", "wb") as f: f.write(b"x" * 2 * 10**7)
    i += 1
### power of powers: Error
print(2 ** 10**8)
### power tower: Error
print(9 ** 9 ** 9 ** 9)
### shift of a billion: Error
x = 1 << 10**12
### factorial: Error
import math
x = math.factorial(10**7)
### digits of a large number: ValueError
print(int("9" * 10**5))
### large product: MemoryError
x = 3
while True: x = x * x
### range of everything: Error
x = list(range(10**12))
### dictionary of everything: MemoryError
x = {}
i = 0
while True:
    x[i] = str(i) * 100
    i += 1
### syntax of brackets: SyntaxError
x = ((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((1))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))
### regular expression that backtracks: Error
import re
print(re.match("(a+)+$", "a" * 40 + "b"))
### regular expression of repetitions: rror
import re
hostile = re.compile("((((a{1,1000}){1,1000}){1,1000}){1,1000})")
print(hostile.match("a" * 5000).end())
print(hostile.fullmatch("a" * 5000 + "b"))
### tensor of ten billion: Error
import torch
x = torch.zeros(100000, 100000)
print(x.sum())
### tensors without an end: emory
import torch
x = []
while True: x.append(torch.ones(1000, 1000) * len(x))
### tensor by broadcasting: Error
import torch
x = torch.ones(100000, 1) + torch.ones(1, 1000000)
print(x.sum())
### sizes that overflow: Error
import torch
x = torch.zeros(2**40, 2**40)
### embedding out of range: Error
import torch
print(torch.nn.Embedding(4, 2)(torch.tensor([10**9])))
### damaged checkpoint: Error
import torch
with open("/w.pt", "wb") as f: f.write(b"PK\x03\x04" + b"\xff" * 1000)
torch.load("/w.pt")
### damaged safetensors: Error
with open("/w.safetensors", "wb") as f: f.write(b"\xff" * 8 + b"{}")
from safetensors.torch import load_file
load_file("/w.safetensors")
### damaged array: Error
import numpy as np
with open("/a.npy", "wb") as f: f.write(b"\x93NUMPY\x01\x00\x76\x00{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999,), }")
np.load("/a.npy")
### damaged image: Error
from PIL import Image
with open("/i.png", "wb") as f: f.write(b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x7f\xff\xff\xff\x7f\xff\xff\xff\x08\x02\x00\x00\x00")
Image.open("/i.png")
### error in del: done
class A:
    def __del__(self): raise ValueError("no")
for i in range(1000): A()
print("done")
### error in repr of an error: exception str() failed
class E(Exception):
    def __str__(self): raise E()
    __repr__ = __str__
raise E()
### errors without an end: Stopped.
def f():
    try: raise ValueError()
    except ValueError: raise TypeError()
while True:
    try: f()
    except TypeError as e: pass
### chain of errors: Error
e = None
for i in range(10**5):
    n = ValueError(i)
    n.__cause__ = e
    e = n
raise e
### class of classes: too many classes
x = object
for i in range(2000): x = type(f"C{i}", (x,), {})
x()
### files outside: FileNotFoundError
open("/etc/passwd").read()
### programs outside: Error
import subprocess
subprocess.run(["ls"])
### network outside: Error
import urllib.request
urllib.request.urlopen("http://127.0.0.1")
### sleep of a year: done
import time
time.sleep(10**7)
print("done")
### threads: Error
import threading
ts = [threading.Thread(target=lambda: 1) for i in range(10)]
[t.start() for t in ts]
raise ValueError("Error: as each should be")
### graph that never runs: Stopped.
import torch
x = torch.ones(10)
while True: x = x + 1
### weights that explode: done
import torch
x = torch.ones(10, requires_grad=True)
for i in range(50):
    y = (x ** 100).sum()
    y.backward()
    with torch.no_grad(): x -= 1e30 * x.grad
print("done")
### methods without their object: done
for call in (int.bit_length, float.hex, list.__len__, dict.__iter__, str.format, complex.conjugate, type(len).__call__):
    try: call()
    except TypeError: pass
print("done")
### keys that empty the list they sort: ValueError
x = list(range(50))
x.sort(key=lambda v: (x.clear(), x.append(v), v)[2])
### sleep that is no number: ValueError
import time
time.sleep(float("nan"))
### sleep without end: OverflowError
import time
while True: time.sleep(1e20)
### range that is an array: MemoryError
import numpy as np
np.array(range(10**12))
### range that is a tensor: MemoryError
import torch
torch.tensor(range(10**12))
### groups of groups: ExceptionGroup
e = ValueError()
for i in range(60): e = ExceptionGroup("g", [e, e])
raise e
### zips of zips: RecursionError
it = iter([1])
for i in range(200000): it = zip(it)
next(it)
### enumerations of enumerations: RecursionError
it = iter([1])
for i in range(200000): it = enumerate(it)
next(it)
### text translated: MemoryError
("a" * 10**7).translate({97: "b" * 10**4})
### samples without an end: MemoryError
import torch
torch.multinomial(torch.ones(10), 10**10, replacement=True)
### range beyond 64 bits: OverflowError
len(range(2**70))
### more defaults than parameters: TypeError
def f(): pass
f.__defaults__ = (1, 2)
f(1)
### maps of maps: Error
it = iter([1])
for i in range(200000): it = map(lambda x: x, it)
next(it)
### filters of filters: Error
it = iter([1])
for i in range(200000): it = filter(None, it)
next(it)
### generators of generators: Error
it = iter([1])
for i in range(200000): it = (x for x in it)
next(it)
### list that grows while it is read: MemoryError
x = ["a" * 1000]
for a in x: x.append(a + "a")
### iterators in an endless deque: MemoryError
import collections, itertools
collections.deque(str(i) * 1000 for i in itertools.count())
### lists that empty each other: IndexError
class A:
    def __index__(self):
        x.clear()
        return 0
x = [1, 2, 3]
x[A()]
### operators in a row: SyntaxError
eval("+".join(["1"] * 100000))
### hooks within hooks: RecursionError
import torch
m = torch.nn.Linear(2, 2)
m.register_forward_hook(lambda m, i, o: m(*i))
m(torch.ones(2))
### functions within functions: RecursionError
import torch
class R(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a): return R.apply(a)
R.apply(torch.ones(1))
### module of itself printed: RecursionError
import torch
m = torch.nn.Module()
m.m = m
repr(m)
