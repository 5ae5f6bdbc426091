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
        if isinstance(value, (bytes, memoryview)):
            return bytes(value)
        raise TypeError(f"can't concat {type(value).__name__} to bytearray")

    def _byte(value):
        value = value if isinstance(value, int) else _index_of(value)
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
        return value in self._bytes

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
            args = [bytes(a) if isinstance(a, (bytearray, memoryview)) else a for a in args]
            got = method(*args, **kwargs)
            if isinstance(got, bytes):
                return bytearray(got)
            return [bytearray(x) for x in got] if isinstance(got, list) else got
        return call

    def fromhex(text):
        return bytearray(bytes.fromhex(text))

bytearray.__module__ = 'builtins'

class memoryview:
    # Items lie at the places of a range.
    def __init__(self, object):
        if isinstance(object, memoryview):
            self.obj, self._places, self.format, self.itemsize = object.obj, object._places, object.format, object.itemsize
        elif isinstance(object, (bytes, bytearray)):
            self.obj, self._places, self.format, self.itemsize = object, range(len(object)), 'B', 1
        else:
            raise TypeError(f"memoryview: a bytes-like object is required, not '{type(object).__name__}'")
        self.readonly, self.ndim, self.suboffsets = isinstance(self.obj, bytes), 1, ()

    @property
    def shape(self):
        return (len(self._places),)

    @property
    def strides(self):
        return (self._places.step,)

    @property
    def nbytes(self):
        return len(self._places) * self.itemsize

    @property
    def contiguous(self):
        return self._places.step == self.itemsize or len(self._places) < 2

    c_contiguous = f_contiguous = contiguous

    def _place(self, key):
        if not hasattr(key, '__index__'):
            raise TypeError("memoryview: invalid slice key")
        try:
            return self._places[key]
        except IndexError:
            raise IndexError("index out of bounds on dimension 1") from None

    def __len__(self):
        return len(self._places)

    def __getitem__(self, key):
        if isinstance(key, slice):
            part = memoryview(self)
            part._places = self._places[key]
            return part
        at = self._place(key)
        if self.format == 'B':
            return self.obj[at]
        return _struct().unpack_from(self.format, self.obj, at)[0]

    def __setitem__(self, key, value):
        if self.readonly:
            raise TypeError("cannot modify read-only memory")
        if isinstance(key, slice):
            places, value = self._places[key], memoryview(value)
            if len(places) != len(value) or self.format != value.format:
                raise ValueError("memoryview assignment: lvalue and rvalue have different structures")
            data = [value.obj[p:p + self.itemsize] for p in value._places]
            for at, octets in zip(places, data):
                self.obj[at:at + self.itemsize] = octets
            return
        at = self._place(key)
        try:
            self.obj[at:at + self.itemsize] = _struct().pack(self.format, value)
        except _struct().error:
            kind = ValueError if hasattr(value, '__index__') or isinstance(value, float) else TypeError
            raise kind(f"memoryview: invalid {'value' if kind is ValueError else 'type'} for format '{self.format}'") from None

    def __iter__(self):
        return iter(self.tolist())

    def __eq__(self, other):
        if isinstance(other, (bytes, bytearray)):
            other = memoryview(other)
        return self.tolist() == other.tolist() if isinstance(other, memoryview) else NotImplemented

    def __hash__(self):
        if not self.readonly:
            raise ValueError("cannot hash writable memoryview object")
        return hash(self.tobytes())

    def __repr__(self):
        return f"<memory at {id(self):#x}>"

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.release()

    def release(self):
        pass

    def tobytes(self, order='C'):
        if self._places.step == self.itemsize:
            return bytes(self.obj[self._places.start:self._places.stop])
        return b''.join([bytes(self.obj[at:at + self.itemsize]) for at in self._places])

    __bytes__ = tobytes

    def tolist(self):
        return [self[i] for i in range(len(self._places))]

    def hex(self, *args):
        return self.tobytes().hex(*args)

    def toreadonly(self):
        view = memoryview(self)
        view.readonly = True
        return view

    def cast(self, format):
        if not self.contiguous:
            raise TypeError("memoryview: casts are restricted to C-contiguous views")
        size, view = _struct().calcsize(format), memoryview(self)
        if self.nbytes % size:
            raise TypeError("memoryview: length is not a multiple of itemsize")
        view.format, view.itemsize = format, size
        view._places = range(self._places.start, self._places.start + self.nbytes, size)
        return view

memoryview.__module__ = 'builtins'

def _struct():
    import struct
    return struct

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
        made.__traceback__ = self.__traceback__
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
            return typing.TypeVar(name, *value, infer_variance=True)
        return typing.TypeVar(name, bound=value, infer_variance=True)
    if kind == 'tuple':
        return typing.TypeVarTuple(name)
    if kind == 'parameters':
        return typing.ParamSpec(name)
    if kind == 'generic':
        return typing.Generic[value]
    return typing.TypeAliasType(name, value)
