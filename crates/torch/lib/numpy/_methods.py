"""Methods and operators of arrays."""

import _numpy
from _numpy import ndarray
from numpy import _by_zero
from numpy._scalars import number as _scalar
import numpy as np
import builtins
import operator

ndarray.shape = property(_numpy.shape, lambda self, shape: None)
ndarray.ndim = property(lambda self: len(_numpy.shape(self)))
ndarray.dtype = property(lambda self: np.dtype(_numpy.kind(self)))
ndarray.T = property(lambda self: _numpy.transpose(self, None))
ndarray.itemsize = property(lambda self: self.dtype.itemsize)
ndarray.nbytes = property(lambda self: self.size * self.dtype.itemsize)
ndarray.flat = property(lambda self: iter(self.reshape(-1).tolist()))
ndarray.__array_priority__ = 0.0
ndarray._tp_name = "numpy.ndarray"
ndarray.__class_getitem__ = np.dtype.__class_getitem__ = classmethod(lambda cls, item: cls)
ndarray.trace = lambda self, offset=0: np.trace(self, offset)
ndarray.diagonal = lambda self, offset=0: np.diagonal(self, offset)
ndarray.strides = property(lambda self: tuple([n * self.itemsize for n in _numpy.strides(self)]))


def _size(self):
    n = 1
    for size in _numpy.shape(self):
        n *= size
    return n


ndarray.size = property(_size)
ndarray.__getitem__ = lambda self, index: _scalar(_numpy.getitem(self, index))
ndarray.__setitem__ = lambda self, index, value: _numpy.setitem(
    self, index, value.numpy() if hasattr(value, "numpy") and not isinstance(value, ndarray) else value)
ndarray.tolist = lambda self: _numpy.tolist(self)
ndarray.tobytes = lambda self: _numpy.tobytes(self)
ndarray.copy = lambda self, order="C": _numpy.astype(self, None)
ndarray.__copy__ = lambda self: _numpy.astype(self, None)
ndarray.__deepcopy__ = lambda self, memo: _numpy.astype(self, None)


def astype(self, dtype, copy=True):
    try:
        return _numpy.astype(self, np._name(dtype))
    except TypeError:
        from numpy._objects import made_of
        return made_of(self.tolist(), dtype)


ndarray.astype = astype
ndarray.view = lambda self, *args: self
ndarray.__repr__ = lambda self: np.array_repr(self)
ndarray.__str__ = lambda self: np.array_str(self)


def reshape(self, *shape, order="C"):
    if order == "F":
        sizes = shape[0] if len(shape) == 1 and not isinstance(shape[0], builtins.int) else shape
        return self.T.reshape(*reversed(sizes)).T
    return _numpy.reshape(self, shape[0] if len(shape) == 1 else shape)


ndarray.reshape = reshape
ndarray.ravel = ndarray.flatten = lambda self, order="C": _numpy.reshape(self, -1)
ndarray.flatten = lambda self, order="C": _numpy.reshape(_numpy.astype(self, None), -1)
ndarray.transpose = lambda self, *axes: np.transpose(self, None if not axes else axes[0] if len(axes) == 1 else axes)


ndarray.trace = lambda self, offset=0: np.trace(self, offset)
ndarray.diagonal = lambda self, offset=0: np.diagonal(self, offset)
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
            return getattr(operator, called)(self.item(), other) if self.ndim == 0 and hasattr(other, "grad_fn") else NotImplemented
        return _scalar(computed(self, np._operand(other)))

    def backward(self, other):
        if not isinstance(other, (ndarray, builtins.int, builtins.float, list, tuple)):
            return NotImplemented
        return _scalar(computed(np._operand(other), self))

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
ndarray.__matmul__ = lambda self, other: _scalar(_numpy.matmul(self, np._as(other)))
ndarray.__rmatmul__ = lambda self, other: _numpy.matmul(np._as(other), self)
ndarray.__neg__ = lambda self: _scalar(_numpy.unary("negative", self))
ndarray.__pos__ = lambda self: self
ndarray.__abs__ = lambda self: _scalar(_numpy.unary("absolute", self))
ndarray.__invert__ = lambda self: _numpy.unary("invert" if self.dtype.name == "bool" else "bitwise_not", self)

for _name in ("sum prod mean max min any all var std argmax argmin cumsum cumprod argsort round clip squeeze swapaxes repeat take dot "
              "nonzero").split():
    if _name != "nonzero":
        setattr(ndarray, _name, getattr(np, _name))


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


def sort(self, axis=-1):
    self[...] = np.sort(self, axis)


def fill(self, value):
    self[...] = value


ndarray.sort = sort
ndarray.fill = fill
