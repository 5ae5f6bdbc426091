import sys
def counter(n):
    total = 0
    try:
        while total < n:
            try:
                got = yield total
            except ValueError as e:
                print('caught', e)
                got = 100
            total += got or 1
    finally:
        print('cleanup', total)
    return 'done'
g = counter(5)
print(next(g), g.send(2), next(g))
print(g.gi_frame is not None, g.gi_running, g.gi_yieldfrom, g.__name__, g.__qualname__)
try:
    g.throw(ValueError('x'))
except StopIteration as s:
    print('stop', s.value, s.args)
print(next(g, 'end'), g.gi_frame)
g = counter(5)
try: g.send(1)
except TypeError as e: print(e)
g.close()
g = counter(5); next(g)
try: g.throw(KeyError('k'))
except KeyError as e: print(repr(e))
g = counter(3); next(g); print(g.close())
def stubborn():
    try:
        yield 1
    except GeneratorExit:
        yield 2
g = stubborn(); next(g)
try: g.close()
except RuntimeError as e: print(e)
def deleg():
    r = yield from counter(2)
    print('r', r)
    r = yield from [10, 20]
    print('r', r)
    try:
        yield from inner()
    except ZeroDivisionError as e:
        print('zde', e)
    return 7
def inner():
    yield 'i'
    1 / 0
g = deleg()
print(list(g))
g = deleg(); next(g); print(g.gi_yieldfrom)if 0 else None
print(g.send(5))
try: g.send(3)
except AttributeError as e: print(e)
def reenter():
    yield next(me)
me = reenter()
try: next(me)
except ValueError as e: print(e)
def raises_stop():
    yield 1
    raise StopIteration(5)
try: list(raises_stop())
except RuntimeError as e: print(repr(e), repr(e.__cause__))
def ret():
    return 3
    yield
try: next(ret())
except StopIteration as e: print(e.value)
def flatten(x):
    for i in x:
        if isinstance(i, list): yield from flatten(i)
        else: yield i
print(list(flatten([1, [2, [3, [4]], 5]])))
class It:
    def __init__(self): self.i = 0
    def __iter__(self): return self
    def __next__(self):
        self.i += 1
        if self.i > 3: raise StopIteration('val')
        return self.i
    def throw(self, *a): print('throw', a); return 'T'
    def close(self): print('closed')
def d2():
    x = yield from It()
    print('x', x)
print(list(d2()))
g = d2(); next(g); print(g.throw(ValueError('q'))); g.close()
gen = (x * y for x in range(3) for y in range(x) if y)
print(gen, list(gen)) if 0 else print(list(gen))
def f():
    try:
        yield 1
    finally:
        print('fin')
for v in f():
    print(v); break
print('after')
def fib():
    a, b = 0, 1
    while True:
        yield a
        a, b = b, a + b
from itertools import islice, takewhile
print(list(islice(fib(), 10)), list(takewhile(lambda x: x < 50, fib())))
def ctx():
    try:
        yield
    except Exception as e:
        raise RuntimeError('wrapped') from e
g = ctx(); next(g)
try: g.throw(ValueError('orig'))
except RuntimeError as e: print(e, repr(e.__cause__))
import inspect
g = fib()
print(inspect.getgeneratorstate(g)); next(g); print(inspect.getgeneratorstate(g)); g.close(); print(inspect.getgeneratorstate(g))
print(inspect.isgenerator(g), inspect.isgeneratorfunction(fib))
def echo():
    while True:
        x = yield
        print('echo', x)
e = echo(); next(e)
for w in 'ab': e.send(w)
e.close()
def tree(n):
    if n: 
        yield from tree(n - 1)
        yield n
        yield from tree(n - 1)
print(*tree(3))
def boom():
    yield 1
    raise ValueError('in gen')
def outer():
    yield from boom()
for x in outer():
    print(x)
