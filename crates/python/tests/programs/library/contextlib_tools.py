from contextlib import contextmanager, suppress, nullcontext, closing, ExitStack, redirect_stdout
import io
@contextmanager
def managed(n):
    print('open', n)
    try:
        yield n * 2
    except KeyError as e:
        print('handled', e)
    finally:
        print('close', n)
with managed(1) as v: print(v)
with managed(2): raise KeyError('k')
try:
    with managed(3): raise ValueError('through')
except ValueError as e: print(e)
with suppress(ZeroDivisionError): 1 / 0
with nullcontext(5) as x: print(x)
with ExitStack() as stack:
    vals = [stack.enter_context(managed(i)) for i in (7, 8)]
    stack.callback(print, 'callback')
    print(vals)
buf = io.StringIO()
with redirect_stdout(buf): print('captured')
print(repr(buf.getvalue()))
class R:
    def close(self): print('closed')
with closing(R()) as r: print('using')
@managed(9)
def decorated(): return 'result'
print(decorated())
@contextmanager
def none(): 
    return
    yield
try:
    with none(): pass
except RuntimeError as e: print(e)
