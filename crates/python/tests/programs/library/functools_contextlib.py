from functools import *
from contextlib import *
import sys
calls = 0
@lru_cache(maxsize=2)
def sq(x):
    global calls; calls += 1
    return x * x
print(sq(1), sq(2), sq(1), sq(3), sq(2), calls, sq.cache_info(), sq.cache_parameters()); sq.cache_clear(); print(sq.cache_info(), sq.__name__)
@cache
def fib(n): return n if n < 2 else fib(n - 1) + fib(n - 2)
print(fib(80), fib.cache_info())
@lru_cache
def kw(a, *, b=1): return (a, b)
print(kw(1), kw(1, b=2), kw(a=1), kw.cache_info())
try: sq([])
except TypeError as e: print(e)
@lru_cache(typed=True)
def ty(x): return type(x).__name__
print(ty(1), ty(1.0), ty(True), ty.cache_info())
p = partial(int, base=2); print(p('101'), p.func, p.args, p.keywords, p)
p2 = partial(partial(print, 1), 2, sep='-'); p2(3); print(p2)
class A:
    def m(self, a, b): return (a, b)
    pm = partialmethod(m, 1)
    @cached_property
    def cp(self): print('computing'); return 5
    @singledispatchmethod
    def d(self, x): return 'default'
    @d.register
    def _(self, x: int): return 'int'
    @d.register(str)
    def _s(self, x): return 'str'
a = A(); print(a.pm(2), a.cp, a.cp, a.__dict__, a.d(1), a.d('a'), a.d(1.5)); del a.cp; print(a.cp)
@singledispatch
def show(x): return f'obj {x}'
@show.register
def _(x: int): return f'int {x}'
@show.register(list)
@show.register(tuple)
def _(x): return f'seq {len(x)}'
@show.register
def _(x: float | complex): return 'num'
print(show('a'), show(1), show([1]), show((1, 2)), show(1.5), show(True), show.dispatch(bool) is show.dispatch(int), list(show.registry)[:2], show(1j))
try: show()
except TypeError as e: print(e)
@total_ordering
class T:
    def __init__(s, v): s.v = v
    def __eq__(s, o): return s.v == o.v
    def __lt__(s, o): return s.v < o.v
print(T(1) <= T(1), T(2) > T(1), T(2) >= T(3), T(1) != T(1))
try:
    @total_ordering
    class T2: pass
except ValueError as e: print(e)
print(reduce(lambda a, b: a * b, [1, 2, 3]), reduce(lambda a, b: a + b, [], 'init'), reduce(max, [3, 1], 9))
try: reduce(lambda a, b: a, [])
except TypeError as e: print(e)
def deco(n):
    def wrap(f):
        @wraps(f)
        def inner(*a, **k):
            "inner doc"
            return [f(*a, **k)] * n
        inner.n = n
        return inner
    return wrap
@deco(3)
def hello(name: str = 'x') -> str:
    "hello doc"
    return f'hi {name}'
print(hello('b'), hello.__name__, hello.__doc__, hello.__wrapped__('c'), hello.n, hello.__annotations__, hello.__module__, hello.__qualname__)
print(sorted('bAc', key=cmp_to_key(lambda a, b: (a.lower() > b.lower()) - (a.lower() < b.lower()))))
@contextmanager
def cm(x):
    print('enter', x)
    try: yield x * 2
    except ValueError as e: print('swallow', e)
    finally: print('exit', x)
with cm(1) as v, cm(2) as w: print(v, w); raise ValueError('boo')
try:
    with cm(3): raise KeyError('k')
except KeyError as e: print('out', e)
@cm(5)
def decorated(): print('in decorated')
decorated()
@contextmanager
def bad(): return; yield
try:
    with bad(): pass
except RuntimeError as e: print(e)
@contextmanager
def bad2(): yield 1; yield 2
try:
    with bad2(): pass
except RuntimeError as e: print(e)
with suppress(KeyError, ValueError): {}['x']
print('after suppress')
with ExitStack() as st:
    st.callback(print, 'cb', 1); st.enter_context(cm(7)); st.push(lambda *a: print('pushed', a[0])); print('body')
with ExitStack() as st:
    st.enter_context(suppress(ZeroDivisionError)); st.callback(print, 'x'); 1 / 0
st2 = ExitStack(); st2.callback(print, 'later'); st3 = st2.pop_all(); st2.close(); st3.close()
class Cl:
    def close(self): print('closed')
with closing(Cl()) as c: print('using')
with nullcontext(5) as n: print(n)
import io
buf = io.StringIO()
with redirect_stdout(buf): print('captured')
print(repr(buf.getvalue()))
with redirect_stderr(buf): print('err', file=sys.stderr)
print(repr(buf.getvalue()))
class Ctx(ContextDecorator):
    def __enter__(self): print('E'); return self
    def __exit__(self, *e): print('X', e[0]); return False
@Ctx()
def fn(a): return a + 1
print(fn(1))
class ACM(AbstractContextManager):
    def __exit__(self, *a): print('acm exit')
with ACM() as q: print(q.__class__.__name__)
try:
    with 5: pass
except TypeError as e: print(e)
class NoExit:
    def __enter__(self): pass
try:
    with NoExit(): pass
except TypeError as e: print(e)
class ExitRaises:
    def __enter__(self): return self
    def __exit__(self, *a): raise RuntimeError('exit failed')
with ExitRaises():
    raise ValueError('body')
