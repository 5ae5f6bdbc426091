"""Methods and operators of arrays."""

import _numpy
from _numpy import ndarray
from numpy import _by_zero
from numpy._scalars import number as _scalar
import numpy as np
import builtins
import math
import operator

ndarray.shape = property(_numpy.shape, lambda self, shape: None)
ndarray.ndim = property(lambda self: len(_numpy.shape(self)))
ndarray.dtype = property(lambda self: np.dtype(_numpy.kind(self)))
ndarray.T = property(lambda self: _numpy.transpose(self, None))
ndarray.itemsize = property(lambda self: self.dtype.itemsize)
ndarray.nbytes = property(lambda self: self.size * self.dtype.itemsize)
ndarray.flat = property(lambda self: _Flat(self), lambda self, value: self.__setitem__(Ellipsis, np.resize(value, self.shape)))
ndarray.flags = property(lambda self: _Flags(self))
ndarray.__reduce__ = lambda self: (_rebuilt, (self.tobytes(), self.dtype.name, self.shape))
ndarray.__array_priority__ = 0.0
ndarray._tp_name = "numpy.ndarray"
ndarray.__class_getitem__ = np.dtype.__class_getitem__ = classmethod(lambda cls, item: cls)
ndarray.trace = lambda self, offset=0: np.trace(self, offset)
ndarray.diagonal = lambda self, offset=0, axis1=0, axis2=1: np.diagonal(self, offset, axis1, axis2)
ndarray.strides = property(lambda self: tuple([n * self.itemsize for n in _numpy.strides(self)]))


class _rebuilt:
    """What a pickle calls to make an array: of pickles' functions only classes are called."""

    def __new__(cls, data, kind, shape):
        return _numpy.frombuffer(data, kind).reshape(shape)


class _Flat:
    """An array's elements in a row, which change with it."""

    def __init__(self, base):
        self.base, self._at = base, 0

    def _places(self, key):
        return np.arange(self.base.size)[key]

    def __getitem__(self, key):
        return self.base.reshape(-1)[key]

    def __setitem__(self, key, value):
        places = np.reshape(self._places(key), -1)
        values = np.resize(value, places.shape)
        if places.size:
            self.base[np.unravel_index(places, self.base.shape)] = values

    def __len__(self):
        return self.base.size

    def __iter__(self):
        return iter([self[i] for i in range(len(self))])

    def __next__(self):
        if self._at >= len(self):
            raise StopIteration
        self._at += 1
        return self[self._at - 1]

    def copy(self):
        return self.base.flatten()

    def __array__(self, dtype=None):
        return self.copy()


def _dense(steps):
    """Whether each dimension, with its size and step, goes on where those behind it end."""
    return builtins.all([step == math.prod([n for n, _ in steps[i + 1:]]) for i, (_, step) in enumerate(steps)])


class _Flags:
    """How an array lies in memory."""

    def __init__(self, of):
        steps = [(n, step) for n, step in zip(of.shape, _numpy.strides(of)) if n != 1]
        self.c_contiguous, self.f_contiguous = _dense(steps), _dense(steps[::-1])
        self.contiguous = self.c_contiguous
        self.owndata = self.writeable = self.aligned = True

    def __getitem__(self, name):
        return getattr(self, {"C": "c_contiguous", "F": "f_contiguous"}.get(name, name.lower()))

    def __setattr__(self, name, value):
        if name == "writeable" and not value:
            raise NotImplementedError("numpy arrays that cannot be written to")
        object.__setattr__(self, name, value)

    def __repr__(self):
        return "\n".join([f"  {n.upper()} : {self[n]}" for n in ("c_contiguous", "f_contiguous", "owndata", "writeable", "aligned")]) + \
            "\n  WRITEBACKIFCOPY : False\n"


def setflags(self, write=None, align=None, uic=None):
    if write is not None:
        self.flags.writeable = write


ndarray.setflags = setflags


def _size(self):
    n = 1
    for size in _numpy.shape(self):
        n *= size
    return n


ndarray.size = property(_size)


def __getitem__(self, index):
    try:
        return _scalar(_numpy.getitem(self, index))
    except IndexError:
        parts = index if isinstance(index, tuple) else (index,)
        if not builtins.any([isinstance(i, range) for i in parts]):
            raise
    return self[tuple([np.array(list(i), np.int64) if isinstance(i, range) else i for i in parts])]


ndarray.__getitem__ = __getitem__
ndarray.__setitem__ = lambda self, index, value: _numpy.setitem(
    self, index, value.numpy() if hasattr(value, "numpy") and not isinstance(value, ndarray) else value)
ndarray.tolist = lambda self: _numpy.tolist(self)
ndarray.tobytes = lambda self, order="C": _numpy.tobytes(self if order != "F" else _numpy.transpose(self, None))
ndarray.copy = lambda self, order="C": _numpy.astype(self, None)
ndarray.__copy__ = lambda self: _numpy.astype(self, None)
ndarray.__deepcopy__ = lambda self, memo: _numpy.astype(self, None)


def astype(self, dtype, copy=True):
    try:
        return _numpy.astype(self, np._name(dtype))
    except TypeError:
        from numpy._objects import made_of
        return made_of(self.tolist(), dtype, self.dtype.name)


ndarray.astype = astype


def view(self, dtype=None, type=None):
    """The elements as they are, or a copy of their bytes as another type's."""
    if dtype is None or isinstance(dtype, builtins.type) and issubclass(dtype, ndarray) or self.dtype == dtype:
        return self[...]
    made = _numpy.frombuffer(self.tobytes(), np._name(dtype))
    return made.reshape(self.shape[:-1] + (-1,)) if self.ndim else made.reshape(())


ndarray.view = view
ndarray.__repr__ = lambda self: np.array_repr(self)
ndarray.__str__ = lambda self: np.array_str(self)


def reshape(self, *shape, order="C"):
    if order == "F":
        sizes = shape[0] if len(shape) == 1 and not isinstance(shape[0], builtins.int) else shape
        return self.T.reshape(*reversed(sizes)).T
    return _numpy.reshape(self, shape[0] if len(shape) == 1 else shape)


ndarray.reshape = reshape
ndarray.ravel = lambda self, order="C": _numpy.reshape(self.T if order == "F" else self, -1)
ndarray.flatten = lambda self, order="C": _numpy.reshape(_numpy.astype(self.T if order == "F" else self, None), -1)
ndarray.transpose = lambda self, *axes: np.transpose(self, None if not axes else axes[0] if len(axes) == 1 else axes)


ndarray.trace = lambda self, offset=0: np.trace(self, offset)
ndarray.mT = property(lambda self: np.swapaxes(self, -1, -2))
ndarray.conj = ndarray.conjugate = ndarray.copy
ndarray.real = property(lambda self: self)
ndarray.imag = property(lambda self: np.zeros_like(self))
ndarray.base = None


def item(self, *index):
    if index:
        if len(index) == 1 and self.ndim > 1 and isinstance(index[0], builtins.int):
            return _numpy.getitem(self.reshape(-1), index[0])
        return _numpy.getitem(self, index if len(index) > 1 else index[0])
    if self.size != 1:
        raise ValueError("can only convert an array of size 1 to a Python scalar")
    return _numpy.tolist(self.reshape(()))


ndarray.item = item


def _only(self):
    if self.size != 1:
        raise TypeError("only 0-dimensional arrays can be converted to Python scalars")
    return self.item()


ndarray.__float__ = lambda self: builtins.float(_only(self))
ndarray.__int__ = lambda self: builtins.int(_only(self))
ndarray.__index__ = lambda self: self.item()
ndarray.__format__ = lambda self, spec: format(self.item(), spec) if self.ndim == 0 else np.array_str(self)


def __bool__(self):
    if not self.size:
        raise ValueError("The truth value of an empty array is ambiguous. Use `array.size > 0` to check that an array is not empty.")
    if self.size != 1:
        raise ValueError("The truth value of an array with more than one element is ambiguous. Use a.any() or a.all()")
    return builtins.bool(self.item())


ndarray.__bool__ = __bool__


def __len__(self):
    if self.ndim == 0:
        raise TypeError("len() of unsized object")
    return self.shape[0]


ndarray.__len__ = __len__


def __iter__(self):
    if self.ndim == 0:
        raise TypeError("iteration over a 0-d array")
    for i in range(self.shape[0]):
        yield self[i]


ndarray.__iter__ = __iter__
ndarray.__contains__ = lambda self, value: builtins.bool(np.equal(self, value).any())
ndarray.__hash__ = None


def _operator(name, method, back=None):
    called = method + "_" * (method in ("and", "or"))

    def computed(a, b):
        made = _numpy.binary(name, a, b)
        return _by_zero.divided(name, a, b, made) if name in ("divide", "floor_divide", "remainder") else made

    def forward(self, other):
        if not isinstance(other, (ndarray, builtins.int, builtins.float, list, tuple)):
            # A tensor takes a scalar as the number that it is.
            if isinstance(other, complex):
                return getattr(self.astype(complex), f"__{method}__")(other)
            return getattr(operator, called)(self.item(), other) if self.ndim == 0 and hasattr(other, "grad_fn") else NotImplemented
        other = np._operand(other)
        return NotImplemented if hasattr(other, "_places") else _scalar(computed(self, other))

    def backward(self, other):
        if not isinstance(other, (ndarray, builtins.int, builtins.float, list, tuple)):
            return getattr(self.astype(complex), f"__{back}__")(other) if isinstance(other, complex) else NotImplemented
        other = np._operand(other)
        return NotImplemented if hasattr(other, "_places") else _scalar(computed(other, self))

    def in_place(self, other):
        # Elements never change.
        if self.ndim == 0 and type(self) is not ndarray:
            return forward(self, other)
        made = computed(self, np._operand(other))
        if made.dtype != self.dtype and made.dtype.kind == "f" and self.dtype.kind != "f":
            raise TypeError(
                f"Cannot cast ufunc '{name}' output from dtype('{made.dtype}') to dtype('{self.dtype}') with casting rule 'same_kind'")
        self[...] = made
        return self
    setattr(ndarray, f"__{method}__", forward)
    if back is not None:
        setattr(ndarray, f"__{back}__", backward)
        setattr(ndarray, f"__i{method}__", in_place)


for _name, _method in (("add", "add"), ("subtract", "sub"), ("multiply", "mul"), ("divide", "truediv"), ("floor_divide", "floordiv"),
                       ("remainder", "mod"), ("power", "pow"), ("bitwise_and", "and"), ("bitwise_or", "or"), ("bitwise_xor", "xor"),
                       ("left_shift", "lshift"), ("right_shift", "rshift")):
    _operator(_name, _method, "r" + _method)
for _name, _method in (("equal", "eq"), ("not_equal", "ne"), ("less", "lt"), ("less_equal", "le"), ("greater", "gt"),
                       ("greater_equal", "ge")):
    _operator(_name, _method)
ndarray.__matmul__ = lambda self, other: np.matmul(self, other)
ndarray.__rmatmul__ = lambda self, other: np.matmul(other, self)
ndarray.__neg__ = lambda self: _scalar(_numpy.unary("negative", self))
ndarray.__pos__ = lambda self: self
ndarray.__abs__ = lambda self: _scalar(_numpy.unary("absolute", self))
ndarray.__invert__ = lambda self: _numpy.unary("invert" if self.dtype.name == "bool" else "bitwise_not", self)

for _name in ("sum prod mean max min any all var std argmax argmin cumsum cumprod argsort round clip squeeze swapaxes repeat take dot").split():
    setattr(ndarray, _name, getattr(np, _name))


def _later(name, first=True):
    """A method that is a function of the module, which may not be loaded yet."""
    return (lambda self, *args, **kwargs: getattr(np, name)(self, *args, **kwargs)) if first else (
        lambda self, given, *args, **kwargs: getattr(np, name)(given, self, *args, **kwargs))


for _name in "searchsorted argpartition put choose".split():
    setattr(ndarray, _name, _later(_name))
ndarray.compress = _later("compress", False)


def tofile(self, fid, sep="", format="%s"):
    from numpy._files import _write
    _write(fid, sep.join([format % v for v in self.reshape(-1).tolist()]).encode() if sep else self.tobytes(), "")


ndarray.tofile = tofile


def nonzero(self):
    places = [i for i, v in enumerate(self.reshape(-1).tolist()) if v]
    out, sizes = [], list(self.shape)
    flat = np.array(places, np.int64) if places else np.zeros(0, np.int64)
    for size in reversed(sizes):
        out.insert(0, flat % size)
        flat = flat // size
    return tuple(out)


ndarray.nonzero = nonzero
np.nonzero = lambda a: np._as(a).nonzero()
np.argwhere = lambda a: np.stack(np._as(a).nonzero(), 1)
np.flatnonzero = lambda a: np._as(a).reshape(-1).nonzero()[0]


def sort(self, axis=-1, kind=None, order=None):
    self[...] = np.sort(self, axis)


def partition(self, kth, axis=-1):
    self[...] = np.sort(self, axis)


def fill(self, value):
    self[...] = value


ndarray.sort, ndarray.partition = sort, partition
ndarray.fill = fill
