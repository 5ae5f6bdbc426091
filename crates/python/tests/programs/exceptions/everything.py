import traceback, sys
class AppError(Exception):
    def __init__(self, code, msg='m'):
        super().__init__(code, msg); self.code = code
    def __str__(self): return f'[{self.code}]'
def a(): raise AppError(5)
def b():
    try: a()
    except AppError as e: raise ValueError('bad') from e
def c():
    try: b()
    except ValueError:
        raise KeyError('k')
try: c()
except KeyError as e:
    print(traceback.format_exc())
    print(repr(e.__context__), repr(e.__context__.__cause__), e.__suppress_context__, e.__cause__)
    tb = e.__traceback__
    while tb: print(tb.tb_lineno, tb.tb_frame.f_code.co_name); tb = tb.tb_next
    print(traceback.format_exception_only(e), traceback.format_tb(e.__traceback__)[0])
try:
    try: 1/0
    finally: print('fin'); 
except ZeroDivisionError as e: print(e, e.args)
def f():
    try: return 'try'
    finally: print('finally')
print(f())
def g():
    for i in range(3):
        try: continue
        finally: print('c', i)
    while True:
        try: break
        finally: print('b')
    try: raise ValueError
    except ValueError: return 1
    else: return 2
    finally: return 3
print(g())
e = ValueError('x', 1); print(e, repr(e), e.args, str(ValueError()), repr(ValueError()), str(KeyError('a')), str(KeyError()), str(KeyError(1,2)))
e.add_note('note1'); e.add_note('note2'); print(e.__notes__)
try: e.add_note(1)
except TypeError as x: print(x)
try: raise e
except ValueError: traceback.print_exc(file=sys.stdout)
try: raise ValueError from None
except ValueError as e: print(e.__suppress_context__)
try: raise ValueError from 5
except TypeError as e: print(e)
try: raise 5
except TypeError as e: print(e)
try: raise
except RuntimeError as e: print(e)
try:
    try: raise ValueError('1')
    except (TypeError, ValueError) as e: raise
except Exception as e: print('outer', e)
try: print(e)
except NameError as x: print(x, x.name)
o = OSError(2, 'No such', 'file'); print(o, o.errno, o.strerror, o.filename, type(o), repr(o))
print(type(OSError(13,'x')), type(OSError(17,'x')), OSError('a'), OSError(1,'b').errno)
try: open('/nonexistent')
except FileNotFoundError as e: print(e, e.errno, e.filename)
try: {}['x']
except LookupError as e: print(type(e), e)
try: [].x
except AttributeError as e: print(e.name, e.obj)
try: import nonexist
except ImportError as e: print(e, e.name, e.path, type(e))
try: from os import nonexist
except ImportError as e: print(str(e)[:40], e.name)
try: int('x')
except (ValueError,) as e: print(e)
try: 'é'.encode('ascii')
except UnicodeEncodeError as e: print(e.encoding, e.object, e.start, e.end, e.reason)
try: exec('if 1:\npass')
except IndentationError as e: print(e)
try: exec('\tif 1:\n        pass\n\tx')
except IndentationError as e: print(type(e).__name__, e)
try: sys.exit(3)
except SystemExit as e: print(e.code, e.args)
try: exit('bye')
except SystemExit as e: print(e.code)
try: assert 1 == 2, ('a', 'b')
except AssertionError as e: print(e, e.args)
try: raise StopIteration(3)
except StopIteration as e: print(e.value)
print(issubclass(FileNotFoundError, OSError), IOError is OSError, EnvironmentError is OSError, ModuleNotFoundError.__mro__[1:3], ArithmeticError.__subclasses__()[:3])
def rec(): return rec()
try: rec()
except RecursionError as e: print(e)
class E2(Exception):
    def __init__(self, *, a): self.a = a
try: raise E2(a=1)
except E2 as e: print(repr(e), str(e), e.args)
try: raise E2(1)
except TypeError as e: print(e)
print(ExceptionGroup('g', [ValueError(1), TypeError(2)]), repr(ExceptionGroup('g', [ValueError(1)])))
try: ExceptionGroup('g', [])
except ValueError as e: print(e)
try: ExceptionGroup('g', [1])
except ValueError as e: print(e)
eg = ExceptionGroup('eg', [ValueError(1), ExceptionGroup('in', [TypeError(2), ValueError(3)])])
print(eg.exceptions, eg.message, eg.split(ValueError), eg.subgroup(TypeError), eg.derive([KeyError()]))
print(eg.subgroup(lambda e: isinstance(e, ValueError)))
traceback.print_exception(eg, file=sys.stdout)
te = traceback.TracebackException.from_exception(ValueError('z')); print(''.join(te.format()))
print(traceback.extract_stack()[-1].lineno, traceback.format_stack()[-1])
w = Warning('w'); print(repr(w), isinstance(w, Exception))
try:
    try: raise ValueError('a')
    except ValueError as e1:
        try: raise TypeError('b')
        except TypeError as e2: raise KeyError('c') from e1
except KeyError as e: print(repr(e.__cause__), repr(e.__context__))
def deep(n):
    if n == 0: raise IndexError('deep')
    deep(n - 1)
class CM:
    def __enter__(self): return self
    def __exit__(self, t, v, tb): print('exit', t, v, tb is not None)
with CM() as cm, CM():
    print('in')
try:
    with CM(): deep(3)
except IndexError: pass
raise AppError(1, 2) from KeyError('z')
