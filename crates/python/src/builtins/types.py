# Builtin types that are written in Python: part of the prelude.

class bytearray:
    # What was appended waits in a list until somebody looks: bytes have to be copied whole.
    __slots__ = ('_whole', '_tail')
    __hash__ = None

    def __init__(self, source=b'', encoding=None, errors='strict'):
        if isinstance(source, bytearray):
            source = source._bytes
        self._bytes = bytes(source) if encoding is None else bytes(source, encoding, errors)

    @property
    def _bytes(self):
        if self._tail:
            self._whole = b''.join([self._whole, *self._tail])
            self._tail = []
        return self._whole

    @_bytes.setter
    def _bytes(self, value):
        self._whole, self._tail = value, []

    def _of(value):
        if isinstance(value, bytearray):
            return value._bytes
        if isinstance(value, bytes):
            return value
        raise TypeError(f"can't concat {type(value).__name__} to bytearray")

    def _byte(value):
        if not 0 <= value < 256:
            raise ValueError("byte must be in range(0, 256)")
        return bytes([value])

    def __repr__(self):
        return f"bytearray({self._bytes!r})"

    def __bytes__(self):
        return self._bytes

    def __len__(self):
        return len(self._bytes)

    def __iter__(self):
        i = 0
        while i < len(self._bytes):
            yield self._bytes[i]
            i += 1

    def __contains__(self, value):
        return (value._bytes if isinstance(value, bytearray) else value) in self._bytes

    def __eq__(self, other):
        if isinstance(other, (bytes, bytearray)):
            return self._bytes == bytearray._of(other)
        return NotImplemented

    def __lt__(self, other):
        return self._bytes < bytearray._of(other)

    def __le__(self, other):
        return self._bytes <= bytearray._of(other)

    def __gt__(self, other):
        return self._bytes > bytearray._of(other)

    def __ge__(self, other):
        return self._bytes >= bytearray._of(other)

    def __add__(self, other):
        return bytearray(self._bytes + bytearray._of(other))

    def __radd__(self, other):
        return bytes(other) + self._bytes

    def __iadd__(self, other):
        self._tail.append(bytearray._of(other))
        return self

    def __mul__(self, count):
        return bytearray(self._bytes * count)

    __rmul__ = __mul__

    def __mod__(self, values):
        return bytearray(self._bytes % values)

    def __getitem__(self, key):
        got = self._bytes[key]
        return bytearray(got) if isinstance(key, slice) else got

    def __setitem__(self, key, value):
        whole = self._bytes
        if isinstance(key, slice):
            items = list(whole)
            items[key] = bytes(value)
            self._bytes = bytes(items)
        else:
            byte = bytearray._byte(value)
            at = key + len(whole) if key < 0 else key
            if not 0 <= at < len(whole):
                raise IndexError("bytearray index out of range")
            self._bytes = whole[:at] + byte + whole[at + 1:]

    def __delitem__(self, key):
        items = list(self._bytes)
        del items[key]
        self._bytes = bytes(items)

    def append(self, value):
        self._tail.append(bytearray._byte(value))

    def extend(self, values):
        self._tail.append(bytes(values))

    def insert(self, index, value):
        self[index:index] = bytearray._byte(value)

    def pop(self, index=-1):
        if not self._bytes:
            raise IndexError("pop from empty bytearray")
        value = self._bytes[index]
        del self[index]
        return value

    def remove(self, value):
        at = self._bytes.find(value)
        if at < 0:
            raise ValueError("value not found in bytearray")
        del self[at]

    def clear(self):
        self._bytes = b''

    def reverse(self):
        self._bytes = self._bytes[::-1]

    def copy(self):
        return bytearray(self._bytes)

    def __getattr__(self, name):
        method = getattr(self._bytes, name, None)
        if method is None or name.startswith('_'):
            raise AttributeError(f"'bytearray' object has no attribute '{name}'", name=name, obj=self)
        def call(*args, **kwargs):
            args = [a._bytes if isinstance(a, bytearray) else a for a in args]
            got = method(*args, **kwargs)
            if isinstance(got, bytes):
                return bytearray(got)
            return [bytearray(x) for x in got] if isinstance(got, list) else got
        return call

    def fromhex(text):
        return bytearray(bytes.fromhex(text))

bytearray.__module__ = 'builtins'

class BaseExceptionGroup(BaseException):
    def __new__(cls, message, exceptions, /):
        if not isinstance(message, str):
            raise TypeError(f"argument 1 must be str, not {type(message).__name__}")
        try:
            exceptions = tuple(exceptions)
        except TypeError:
            raise TypeError("second argument (exceptions) must be a sequence") from None
        if not exceptions:
            raise ValueError("second argument (exceptions) must be a non-empty sequence")
        for i, e in enumerate(exceptions):
            if not isinstance(e, BaseException):
                raise ValueError(f"Item {i} of second argument (exceptions) is not an exception")
        if cls is BaseExceptionGroup and all([isinstance(e, Exception) for e in exceptions]):
            cls = ExceptionGroup
        elif issubclass(cls, Exception) and not all([isinstance(e, Exception) for e in exceptions]):
            raise TypeError("Cannot nest BaseExceptions in an ExceptionGroup")
        self = BaseException.__new__(cls, message, exceptions)
        self.message = message
        self.exceptions = exceptions
        return self

    def __init__(self, *args):
        BaseException.__init__(self, args[0], list(args[1]))

    def __str__(self):
        n = len(self.exceptions)
        return f"{self.message} ({n} sub-exception{'' if n == 1 else 's'})"

    def __repr__(self):
        return f"{type(self).__name__}({self.message!r}, {list(self.exceptions)!r})"

    def derive(self, exceptions):
        return BaseExceptionGroup(self.message, exceptions)

    def _like(self, exceptions):
        if not exceptions:
            return None
        made = self.derive(exceptions)
        made.__cause__ = self.__cause__
        made.__context__ = self.__context__
        made.__suppress_context__ = self.__suppress_context__
        if hasattr(self, '__notes__'):
            made.__notes__ = list(self.__notes__)
        return made

    def split(self, condition):
        if isinstance(condition, (type, tuple)):
            test = lambda e: isinstance(e, condition)
        else:
            test = condition
        if test(self):
            return self, None
        inside, outside = [], []
        for e in self.exceptions:
            if isinstance(e, BaseExceptionGroup):
                a, b = e.split(condition)
            else:
                a, b = (e, None) if test(e) else (None, e)
            if a is not None:
                inside.append(a)
            if b is not None:
                outside.append(b)
        return self._like(inside), self._like(outside)

    def subgroup(self, condition):
        return self.split(condition)[0]

    def __class_getitem__(cls, item):
        return cls

class ExceptionGroup(BaseExceptionGroup, Exception):
    pass

BaseExceptionGroup.__module__ = ExceptionGroup.__module__ = 'builtins'

# `def f[T]()`, `class C[T]`, `type X = ..`.

def _type_parameter(kind, name, value):
    import typing
    if kind == 'variable':
        if isinstance(value, tuple):
            return typing.TypeVar(name, *value)
        return typing.TypeVar(name, bound=value)
    if kind == 'tuple':
        return typing.TypeVarTuple(name)
    if kind == 'parameters':
        return typing.ParamSpec(name)
    if kind == 'generic':
        return typing.Generic[value]
    return typing.TypeAliasType(name, value)
