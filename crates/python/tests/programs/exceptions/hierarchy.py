print([c.__name__ for c in ZeroDivisionError.__mro__])
for c in (KeyError, IndexError, FileNotFoundError, ModuleNotFoundError, UnicodeDecodeError, RecursionError, NotImplementedError, StopIteration, KeyboardInterrupt, SystemExit, GeneratorExit, UserWarning, FutureWarning, DeprecationWarning, TimeoutError, PermissionError, FloatingPointError, OverflowError, UnboundLocalError, EOFError, BufferError, LookupError, ConnectionError):
    print(c.__name__, c.__bases__[0].__name__)
print(issubclass(KeyboardInterrupt, Exception), IOError is OSError)
