"""The part of NumPy that scripts around PyTorch use: arrays on the host, computed in float64."""

import _missing
import _numpy
from _numpy import ndarray
from numpy._print import array_repr, array_str, set_printoptions
from numpy._scalars import (
    Float64, Int64, Number as number, character, complexfloating, flexible, floating, generic, inexact, integer, number as _scalar, signedinteger,
    unsignedinteger)
import builtins
import math

pi, e, inf, nan, newaxis = math.pi, math.e, math.inf, math.nan, None
Inf, NaN, NINF = inf, nan, -inf
euler_gamma = 0.5772156649015329
__version__ = "2.5.5"


class dtype:
    """An element type; called, it converts numbers and arrays."""

    def __new__(cls, kind, *others):
        if cls is dtype:
            from numpy import _records
            cls = type(kind) if isinstance(kind, dtype) else _records.Fields if _records.is_structured(kind) else cls
            try:
                cls is dtype and _name(kind)
            except TypeError:
                from numpy._objects import _Kind as cls
        return object.__new__(cls)

    names = fields = subdtype = None
    isnative, byteorder, shape = True, "=", ()
    type = property(lambda self: bool_ if self.name == "bool" else globals()[self.name])
    str = property(lambda self: ("|" if self.itemsize == 1 else "<") + self.kind + builtins.str(self.itemsize))
    char = property(lambda self: {"b1": "?", "i1": "b", "u1": "B", "i2": "h", "u2": "H", "i4": "i", "u4": "I", "i8": "l", "f2": "e", "f4": "f"}.get(
        self.str[1:], "d"))
    descr = property(lambda self: [("", self.str)])

    def __init__(self, kind, *others):
        self.name = _name(kind)

    @property
    def itemsize(self):
        return {"bool": 1, "int8": 1, "uint8": 1, "int16": 2, "uint16": 2, "float16": 2, "int32": 4, "uint32": 4, "float32": 4}.get(
            self.name, 8)

    @property
    def kind(self):
        return "b" if self.name == "bool" else self.name[0]

    def __instancecheck__(self, x):
        return isinstance(x, generic) and x.dtype.name == self.name

    def __call__(self, value=0):
        made = array(value, self)
        return made[()] if made.ndim == 0 else made

    # An element type stands where NumPy has a class: in a union too.
    def __or__(self, other):
        from typing import Union
        return Union[self, other]

    def __ror__(self, other):
        from typing import Union
        return Union[other, self]

    def __reduce__(self):
        return dtype, (self.name,)

    def __eq__(self, other):
        try:
            return self.name == _name(other)
        except TypeError:
            return False

    def __hash__(self):
        return hash(self.name)

    def __repr__(self):
        return f"dtype('{self.name}')"

    def __str__(self):
        return self.name


_SHORT = {"f": "float32", "f4": "float32", "f8": "float64", "d": "float64", "f2": "float16", "i1": "int8", "i2": "int16", "i4": "int32",
          "i8": "int64", "u1": "uint8", "u2": "uint16", "u4": "uint32", "b1": "bool", "i": "int32", "l": "int64", "?": "bool",
          "float": "float64", "int": "int64", "bool_": "bool", "uint": "uint32"}


def _name(kind):
    if kind is None:
        return None
    if isinstance(kind, dtype) and type(kind) is dtype:
        return kind.name
    if kind is builtins.float:
        return "float64"
    if kind is builtins.int:
        return "int64"
    if kind is builtins.bool:
        return "bool"
    if isinstance(kind, str):
        kind = kind.lstrip("<=|")
        kind = _SHORT.get(kind, kind)
        if kind in ("bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "float16", "float32", "float64"):
            return kind
    raise TypeError(f"data type {kind!r} not understood")


float16, float32, float64 = dtype("float16"), dtype("float32"), dtype("float64")
int8, int16, int32, int64 = dtype("int8"), dtype("int16"), dtype("int32"), dtype("int64")
uint8, uint16, uint32 = dtype("uint8"), dtype("uint16"), dtype("uint32")
bool_ = dtype("bool")
float_, int_, intp, single, double, half = float64, int64, int64, float32, float64, float16


def _as(x):
    return x if isinstance(x, ndarray) or hasattr(x, "_places") else array(x)


# Making arrays.
def array(object, dtype=None, copy=True, order=None, subok=False, ndmin=0, ndmax=0, like=None):
    if not isinstance(object, ndarray):
        object = object.numpy() if hasattr(object, "numpy") else object.__array__() if hasattr(object, "__array__") else object
    try:
        made = _numpy.array(object, _name(dtype))
    except (TypeError, NotImplementedError):
        from numpy._objects import made_of
        made = made_of(object, dtype)
    if order == "F" and made.ndim > 1:
        made = _numpy.astype(made.T, None).T
    return made.reshape((1,) * (ndmin - made.ndim) + made.shape) if made.ndim < ndmin else made


def asarray(a, dtype=None, order=None, *, device=None, copy=None, like=None):
    if isinstance(a, ndarray) and (dtype is None or a.dtype == dtype):
        return a
    return array(a, dtype)


asanyarray = asarray


def ascontiguousarray(a, dtype=None):
    a = asarray(a, dtype)
    return a.copy() if isinstance(a, ndarray) and not a.flags.c_contiguous else a


def _filled(shape, value, kind):
    try:
        return _numpy.full(shape, value, _name(kind))
    except TypeError:
        from numpy._objects import filled
        return filled(shape, value, kind)


def full(shape, fill_value, dtype=None):
    try:
        kind = _name(dtype)
    except TypeError:
        return _filled(shape, fill_value, dtype)
    if not isinstance(fill_value, (builtins.bool, builtins.int, builtins.float)):
        made = array(fill_value, kind)
        return broadcast_to(made, shape).copy() if isinstance(made, ndarray) else made._view(broadcast_to(made._places, shape)).copy()
    if kind is None:
        kind = "bool" if isinstance(fill_value, builtins.bool) else "int64" if isinstance(fill_value, builtins.int) else "float64"
    return _numpy.full(shape, fill_value, kind)


def zeros(shape, dtype=float64, order="C"):
    return _filled(shape, 0, dtype)


def ones(shape, dtype=float64, order="C"):
    return _filled(shape, 1, dtype)


def empty(shape, dtype=float64, order="C"):
    return _filled(shape, None, dtype) if dtype in (builtins.object, "object", "O") else zeros(shape, dtype)


def full_like(a, fill_value, dtype=None, order="K", subok=True, shape=None):
    a = _as(a)
    return full(a.shape if shape is None else shape, fill_value, a.dtype if dtype is None else dtype)


def zeros_like(a, dtype=None, order="K", subok=True, shape=None):
    return full_like(a, 0, dtype, shape=shape)


def ones_like(a, dtype=None, order="K", subok=True, shape=None):
    return full_like(a, 1, dtype, shape=shape)


empty_like = zeros_like


def eye(N, M=None, k=0, dtype=float64):
    M = N if M is None else M
    return (arange(N).reshape(-1, 1) + k == arange(M)).astype(dtype)


identity = eye


def arange(start, stop=None, step=1, dtype=None):
    if isinstance(start, (str, _dates._Time)) or isinstance(stop, _dates._Time) or isinstance(step, _dates._Time):
        return _dates.counted(*((None, start) if stop is None else (start, stop)), step, dtype)
    if stop is None:
        start, stop = 0, start
    n = builtins.max(math.ceil((stop - start) / step), 0)
    whole = builtins.all([isinstance(v, builtins.int) for v in (start, stop, step)])
    kind = _name(dtype) or ("int64" if whole else "float64")
    if "int" in kind and not whole:
        # Of whole numbers the first two are computed, and the others follow at their distance.
        start, step = builtins.int(start), builtins.int(start + step) - builtins.int(start)
    return (_numpy.counted(n, None if whole else "float64") * step + start).astype(kind) if n else zeros(0, kind)


def linspace(start, stop, num=50, endpoint=True, retstep=False, dtype=None, axis=0):
    parts = num - 1 if endpoint else num
    start, stop = [v if isinstance(v, (builtins.int, builtins.float)) else _as(v) for v in (start, stop)]
    step = (stop - start) / parts if parts > 0 else nan
    made = arange(num).astype(float64)
    made = (made.reshape((-1,) + (1,) * ndim(step)) if ndim(step) else made) * (step if parts > 0 else 0) + start
    if endpoint and num > 1:
        made[-1] = stop
    made = made if dtype is None else (floor(made) if "int" in _name(dtype) else made).astype(dtype)
    made = moveaxis(made, 0, axis) if axis else made
    return (made, _scalar(step)) if retstep else made


def fromiter(iterable, dtype=None, count=-1):
    items = list(iterable)
    return array(items if count < 0 else items[:count], dtype)


def frombuffer(buffer, dtype=float64, count=-1, offset=0):
    buffer = bytes(buffer)[offset:]
    if isinstance(dtype, str) and dtype[:1] == ">" or dtype == "S1":
        from numpy._rare import of_bytes
        return of_bytes(buffer, dtype, count)
    made = _numpy.frombuffer(buffer, _name(dtype))
    return made if count < 0 else made[:count]


# Element by element.
def _chosen(condition, x, y):
    x, y = _operand(x), _operand(y)
    if isinstance(x, (str, complex)) or isinstance(y, (str, complex)) or x is None or y is None or hasattr(x, "_places") or hasattr(y, "_places"):
        from numpy._objects import chosen
        return chosen(condition, x, y)
    return _numpy.select(_operand(condition), x, y)


def _given(made, out, dtype):
    """A result of a type that was asked for, in what `out` names."""
    made = made if dtype is None else _as(made).astype(dtype)
    if out is None:
        return made
    out[...] = made
    return out


def _unary(name):
    def function(x, out=None, where=None, dtype=None):
        a = x if isinstance(x, (builtins.int, builtins.float)) else _as(x)
        if hasattr(a, "_places"):
            from numpy._objects import unary
            return _given(unary(name, a) if a.ndim else unary(name, a)[()], out, dtype)
        made = _scalar(_numpy.unary(name, a))
        if where is not None and where is not True:
            made = _chosen(where, made, x if out is None else out)
        return _wrapped(_given(made, out, dtype), x)
    function.__name__ = name
    return function


for _n in ("negative absolute square sign floor ceil trunc rint sqrt exp expm1 log log2 log10 log1p sin cos tan arcsin arccos arctan sinh "
           "cosh tanh reciprocal isnan isinf isfinite logical_not").split():
    globals()[_n] = _unary(_n)
_absolute = absolute


def absolute(x, *args, **kwargs):
    return x.__abs__() if hasattr(x, "_places") or isinstance(x, complex) else _absolute(x, *args, **kwargs)


abs = absolute


def fabs(x, *args, **kwargs):
    return absolute(x if _as(x).dtype.kind == "f" else multiply(x, 1.0), *args, **kwargs)


def _operand(x):
    """An operand: an array, or a number of Python, which adapts to the other's type; NumPy's own do not."""
    if isinstance(x, ndarray) or hasattr(x, "_places"):
        return x
    if isinstance(x, (Float64, Int64)):
        return _numpy.full((), x, x._kind)
    if isinstance(x, (builtins.int, builtins.float)):
        return x
    return x.item() if hasattr(x, "item") and not getattr(x, "ndim", 0) else array(x)


def _wrapped(made, *operands):
    """A result as its operands are: a tensor where one of them is."""
    for x in operands:
        if hasattr(x, "grad_fn"):
            from torch import as_tensor
            return as_tensor(made)
    return made


def _binary(name):
    def function(x1, x2, out=None, where=None, dtype=None):
        a, b = _operand(x1), _operand(x2)
        if hasattr(a, "_places") or hasattr(b, "_places") or isinstance(a, complex) or isinstance(b, complex):
            from numpy._objects import binary
            made = binary(name, _as(a), b)
            return _given(made if made.ndim else made[()], out, dtype)
        made = _numpy.binary(name, a, b)
        if name in ("divide", "floor_divide", "remainder"):
            made = _by_zero.divided(name, a, b, made)
        if where is not None and where is not True:
            made = _chosen(where, made, made if out is None else out)
        return _wrapped(_scalar(_given(made, out, dtype)), x1, x2)
    function.__name__ = name
    return function


for _n in ("add subtract multiply divide floor_divide remainder power maximum minimum arctan2 hypot bitwise_and bitwise_or bitwise_xor "
           "left_shift right_shift equal not_equal less less_equal greater greater_equal logical_and logical_or logical_xor").split():
    globals()[_n] = _binary(_n)
true_divide, mod = divide, remainder


def float_power(x1, x2, **others):
    return power(multiply(x1, 1.0), x2, **others)


def round(a, decimals=0, out=None):
    if hasattr(_as(a), "_places"):
        return _as(a).round(decimals)
    scale = 10.0 ** decimals
    made = a if _as(a).dtype.kind in "bi" and decimals >= 0 else rint(a) if decimals == 0 else rint(multiply(a, scale)) / scale
    return _given(_scalar(_as(made).astype(_as(a).dtype)) if _as(a).dtype.kind == "i" else made, out, None)


around = round


def clip(a, a_min=None, a_max=None, out=None, **others):
    a_min, a_max = others.get("min", a_min), others.get("max", a_max)
    if a_min is not None:
        a = maximum(a, a_min)
    return _given(a if a_max is None else minimum(a, a_max), out, None)


def where(condition, x=None, y=None):
    if x is None and y is None:
        return _as(condition).nonzero()
    return _chosen(condition, x, y)


def isclose(a, b, rtol=1e-05, atol=1e-08, equal_nan=False):
    a, b = _operand(a), _operand(b)
    with errstate(invalid="ignore"):
        made = logical_or(equal(a, b), logical_and(less_equal(absolute(subtract(a, b)), atol + rtol * absolute(b)), isfinite(b)))
    return logical_or(made, logical_and(isnan(a), isnan(b))) if equal_nan else made


def allclose(a, b, rtol=1e-05, atol=1e-08, equal_nan=False):
    return builtins.bool(_as(isclose(a, b, rtol, atol, equal_nan)).all())


def array_equal(a1, a2, equal_nan=False):
    a, b = _as(a1), _as(a2)
    same = a.shape == b.shape and equal(a, b)
    return a.shape == b.shape and builtins.bool(_as(logical_or(same, logical_and(isnan(a), isnan(b))) if equal_nan else same).all())


# Reductions.
from numpy import _reduce
from numpy._reduce import _NONE, axis_of as _axis_of, reduced as _reduced


def _reduction(name):
    def function(a, axis=None, dtype=None, out=None, keepdims=False, initial=_NONE, where=True):
        a = _as(a) if dtype is None else _as(a).astype(dtype)
        return _scalar(_given(_reduced(name, a, axis, keepdims, 0, initial, where), out, dtype))
    function.__name__ = name
    return function


for _n in "sum prod mean".split():
    globals()[_n] = _reduction(_n)


def _reduction_of_kind(name):
    """One without `dtype`."""
    def function(a, axis=None, out=None, keepdims=False, initial=_NONE, where=True):
        return _scalar(_given(_reduced(name, _as(a), axis, keepdims, 0, initial, where), out, None))
    function.__name__ = name
    return function


for _n in "max min any all".split():
    globals()[_n] = _reduction_of_kind(_n)
amax, amin = max, min


def _spread(name):
    def function(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False, where=True, *, mean=None, correction=None):
        a, ddof = _as(a), ddof if correction is None else correction
        if mean is None:
            made = _reduced(name, a, axis, keepdims, ddof, where=where)
        else:
            made = add.reduce(square(a - mean), axis, keepdims=keepdims, where=where)
            made = made / (add.reduce(ones(a.shape), axis, keepdims=keepdims, where=where) - ddof)
            made = sqrt(made) if name == "std" else made
        return _scalar(_given(made, out, dtype))
    function.__name__ = name
    return function


var, std = _spread("var"), _spread("std")


def argmax(a, axis=None, out=None, keepdims=False):
    return _scalar(_given(_reduced("argmax", _as(a), axis, keepdims), out, None))


def argmin(a, axis=None, out=None, keepdims=False):
    return _scalar(_given(_reduced("argmin", _as(a), axis, keepdims), out, None))


def _along(name, a, axis, order=None):
    a = _as(a)
    if hasattr(a, "_places"):
        return a._ordered(name, axis) if order is None else a._ordered(name, axis, order)
    return _numpy.along(name, *((a.reshape(-1), 0) if axis is None else (a, _axis_of(axis, a.ndim))))


def cumsum(a, axis=None, dtype=None, out=None):
    return _given(_along("cumsum", a if dtype is None else _as(a).astype(dtype), axis), out, None)


def cumprod(a, axis=None, dtype=None, out=None):
    return _given(_along("cumprod", a if dtype is None else _as(a).astype(dtype), axis), out, None)


def diff(a, n=1, axis=-1, prepend=None, append=None):
    a = _as(a)
    axis = _axis_of(axis, a.ndim)
    edges = [None if e is None else _as(e) for e in (prepend, append)]
    parts = [e if e is None or e.ndim else broadcast_to(e, a.shape[:axis] + (1,) + a.shape[axis + 1:]) for e in edges]
    if n and (prepend is not None or append is not None):
        a = concatenate([p for p in (parts[0], a, parts[1]) if p is not None], axis)
    for _ in range(n):
        m = a.shape[axis]
        a = take(a, arange(1, m), axis) - take(a, arange(m - 1), axis)
    return a


def count_nonzero(a, axis=None, keepdims=False):
    a = _as(a)
    return sum(a.astype(bool_) if hasattr(a, "_places") else not_equal(a, 0), axis, keepdims=keepdims)


def ptp(a, axis=None, out=None, keepdims=False):
    return _given(max(a, axis, keepdims=keepdims) - min(a, axis, keepdims=keepdims), out, None)


# Orders and shapes.
def sort(a, axis=-1, kind=None, order=None):
    return _along("sort", a, axis, order)


def argsort(a, axis=-1, kind=None, order=None):
    return _along("argsort", a, axis, order)


def unique(ar, return_index=False, return_inverse=False, return_counts=False, axis=None, *, equal_nan=True, sorted=True):
    a = _as(ar)
    rows = None if axis is None else moveaxis(a, axis, 0)
    values = a.reshape(-1).tolist() if axis is None else [tuple(row) for row in rows.reshape(rows.shape[0], -1).tolist()]
    found = {}
    odd = []
    for i, v in enumerate(values):
        if v != v:
            # What is no number is one value, the last.
            odd.append(i)
            v = values[i] = values[odd[0]]
        found.setdefault(v, []).append(i)
    order = builtins.sorted([v for v in found if v == v]) + [values[i] for i in odd[:1]]
    place = {v: i for i, v in enumerate(order)}
    out = [array(order, a.dtype) if order else zeros(0, a.dtype)] if axis is None else [moveaxis(rows[[found[v][0] for v in order]], 0, axis)]
    if return_index:
        out.append(array([found[v][0] for v in order], int64))
    if return_inverse:
        out.append(array([place[v] for v in values], int64).reshape(a.shape if axis is None else -1))
    if return_counts:
        out.append(array([len(found[v]) for v in order], int64))
    return out[0] if len(out) == 1 else tuple(out)


def reshape(a, shape, order="C"):
    return _as(a).reshape(shape, order=order) if order == "F" else _as(a).reshape(shape)


def ravel(a, order="C"):
    return _as(a).ravel(order) if order == "F" else _as(a).reshape(-1)


def transpose(a, axes=None):
    a = _as(a)
    if hasattr(a, "_places"):
        return a._view(transpose(a._places, axes))
    return _numpy.transpose(a, axes if axes is None else [_axis_of(d, a.ndim) for d in axes])


def swapaxes(a, axis1, axis2):
    a = _as(a)
    order = list(range(a.ndim))
    axis1, axis2 = _axis_of(axis1, a.ndim, "axis1"), _axis_of(axis2, a.ndim, "axis2")
    order[axis1], order[axis2] = order[axis2], order[axis1]
    return transpose(a, order)


def moveaxis(a, source, destination):
    a = _as(a)
    several = lambda axis, name: [_axis_of(d, a.ndim, name) for d in (axis if isinstance(axis, (tuple, list)) else (axis,))]
    source, destination = several(source, "source"), several(destination, "destination")
    order = [d for d in range(a.ndim) if d not in source]
    for to, d in sorted(zip(destination, source)):
        order.insert(to, d)
    return transpose(a, order)


def expand_dims(a, axis):
    shape = list(_as(a).shape)
    axes = axis if isinstance(axis, (tuple, list)) else (axis,)
    rank = len(shape) + len(axes)
    for at in sorted([_axis_of(at, rank) for at in axes]):
        shape.insert(at, 1)
    return _as(a).reshape(shape)


def squeeze(a, axis=None):
    a = _as(a)
    dims = [] if axis is None else [_axis_of(d, a.ndim) for d in (axis if isinstance(axis, (tuple, list)) else [axis])]
    for d in dims:
        if a.shape[d] != 1:
            raise ValueError("cannot select an axis to squeeze out which has size not equal to one")
    return a.reshape([n for d, n in enumerate(a.shape) if (n != 1 if axis is None else d not in dims)])


def broadcast_to(array, shape, subok=False):
    a = _as(array)
    if hasattr(a, "_places"):
        return a._view(broadcast_to(a._places, shape))
    try:
        return _numpy.broadcast_to(a, shape)
    except ValueError:
        text = lambda sizes: str(tuple(sizes)).replace(" ", "")
        raise ValueError("operands could not be broadcast together with remapped shapes [original->remapped]: "
                         f"{text(a.shape)}  and requested shape {text([shape] if isinstance(shape, builtins.int) else shape)}") from None


def concatenate(arrays, axis=0, out=None, dtype=None):
    if out is not None or dtype is not None:
        return _given(concatenate(arrays, axis), out, dtype)
    arrays = list(arrays)
    if [a for a in arrays if hasattr(_as(a), "_places")]:
        from numpy import _records, _objects
        return (_records if isinstance(_as(arrays[0]), _records.Records) else _objects).joined(arrays, axis)
    if axis is None:
        return _numpy.cat([_as(a).reshape(-1) for a in arrays], 0)
    rank = ndim(arrays[0]) if arrays else 0
    return _numpy.cat(arrays, _axis_of(axis, rank) if rank else axis)


def stack(arrays, axis=0):
    return concatenate([expand_dims(a, axis) for a in _more.alike(arrays)], axis)


def vstack(tup):
    return concatenate([_as(a).reshape(1, -1) if _as(a).ndim < 2 else a for a in tup], 0)


def hstack(tup):
    parts = [_as(a).reshape(-1) if _as(a).ndim == 0 else _as(a) for a in tup]
    return concatenate(parts, 0 if parts[0].ndim == 1 else 1)


def column_stack(tup):
    return concatenate([_as(a).reshape(-1, 1) if _as(a).ndim < 2 else a for a in tup], 1)


def append(arr, values, axis=None):
    return concatenate([_as(arr), _as(values)], axis)


def tile(A, reps):
    a = _as(A)
    reps = (reps,) if isinstance(reps, builtins.int) else tuple(reps)
    a = a.reshape((1,) * (len(reps) - a.ndim) + a.shape)
    reps = (1,) * (a.ndim - len(reps)) + reps
    for d, n in enumerate(reps):
        a = concatenate([a] * n, d) if n else take(a, [], d)
    return a


def repeat(a, repeats, axis=None):
    a = _as(a).reshape(-1) if axis is None else _as(a)
    axis = 0 if axis is None else _axis_of(axis, a.ndim)
    counts = [repeats] * a.shape[axis] if isinstance(repeats, builtins.int) else list(repeats)
    return take(a, array([i for i, n in enumerate(counts) for _ in range(n)], int64), axis)


def split(ary, indices_or_sections, axis=0):
    ary = _as(ary)
    n = ary.shape[axis]
    if isinstance(indices_or_sections, builtins.int):
        if n % indices_or_sections:
            raise ValueError("array split does not result in an equal division")
        size = n // indices_or_sections
        cuts = [i * size for i in range(1, indices_or_sections)]
    else:
        cuts = list(indices_or_sections)
    ends = [0] + cuts + [n]
    where_ = (slice(None),) * (axis % ary.ndim)
    return [ary[where_ + (slice(a, b),)] for a, b in zip(ends, ends[1:])]


def take(a, indices, axis=None, out=None, mode="raise"):
    a = _as(a)
    if mode != "raise":
        n = a.size if axis is None else a.shape[axis]
        indices = clip(indices, 0, n - 1) if mode == "clip" else remainder(indices, n)
    if isinstance(indices, (list, tuple)):
        indices = array(indices) if len(indices) else zeros(0, int64)
    return _given(a.reshape(-1)[indices] if axis is None else a[(slice(None),) * _axis_of(axis, a.ndim) + (indices,)], out, None)


def flip(m, axis=None):
    m = _as(m)
    axes = range(m.ndim) if axis is None else [_axis_of(d, m.ndim) for d in (axis if isinstance(axis, (tuple, list)) else [axis])]
    return m[tuple([slice(None, None, -1) if d in axes else slice(None) for d in range(m.ndim)])]


def _of(tensor):
    """A tensor's values: a copy, where PyTorch shares memory."""
    return _numpy.from_tensor(tensor)


from numpy._products import *
from numpy import _dates
from numpy._dates import datetime64, isnat, timedelta64
from numpy import _by_zero
from numpy._by_zero import errstate, geterr, seterr
from numpy import _methods, exceptions, linalg, random
from numpy._limits import *
from numpy._places import *
from numpy import _more
from numpy._more import *
from numpy._ufunc import index_exp, s_
from numpy import fft, testing
from numpy._files import genfromtxt, load, loadtxt, memmap, save, savetxt, savez, savez_compressed

bool, str_, bytes_, object_, complex128, ndarray.ctypes = bool_, str, bytes, builtins.object, complex, None
cdouble = complex128

# What few scripts ask for, and the files that have it.
for _where, _names in {
    "_rare": "packbits unpackbits place put putmask asfortranarray apply_over_axes frexp ldexp logaddexp2 kaiser i0 spacing binary_repr base_repr can_cast "
             "common_type fromstring nditer format_float_positional format_float_scientific typename mintypecode min_scalar_type "
             "broadcast frompyfunc diagflat bartlett isfortran tril_indices_from triu_indices_from diag_indices_from mask_indices "
             "matrix_transpose rec bitwise_count fromfile asarray_chkfinite real_if_close sort_complex vecdot unstack piecewise "
             "choose logspace unwrap hanning hamming blackman cumulative_prod nancumprod matvec vecmat unique_all unique_counts unique_inverse "
             "unique_values einsum_path",
    "_estimates": "average median quantile percentile nanquantile histogram histogram_bin_edges histogramdd histogram2d pad",
    "_polynomials": "poly1d poly polyval polyfit polyadd polysub polymul polydiv polyder polyint roots vander",
    "_calendar": "busday_count is_busday busday_offset datetime_as_string",
}.items():
    _missing._RARE.update({f"numpy.{_n}": f"numpy.{_where}" for _n in _names.split()})


__getattr__ = _missing.names("numpy", globals())
