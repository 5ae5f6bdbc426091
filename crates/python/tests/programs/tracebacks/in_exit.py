import traceback, sys
class X:
    def __enter__(self): return self
    def __exit__(self, *a): raise RuntimeError('exit failed')
def a():
    with X() as q:
        pass
def b():
    with X() as q, X() as r:
        1/0
def c():
    with X(): pass
def d():
    with (X() as q,
          X() as z):
        int('a')
def e():
    with X(): return 5
for f in (a, b, c, d, e):
    try: f()
    except Exception: traceback.print_exc(file=sys.stdout)
