"""Arrays of texts, complex numbers and any objects: a list of what is there, and where each place's stands as an array of numbers."""

import builtins
import cmath
import math
import numpy as np
from numpy import _dates
import operator


class _Kind(np.dtype):
    def __init__(self, name):
        known = isinstance(name, builtins.str) and (name in ("object", "complex128") or name[:2] in ("<U", "|S") or name[:4] in ("date", "time"))
        self.name = name if known else _kind([], name)

    type = property(lambda self: {"O": object, "U": builtins.str, "S": bytes}.get(self.kind, complex))
    kind = property(lambda self: {"o": "O", "<": "U", "|": "S", "d": "M", "t": "m"}.get(self.name[0], "c"))
    itemsize = property(lambda self: {"c": 16, "S": 1, "U": 4}.get(self.kind, 8) * (int(self.name[2:]) if self.kind in "US" else 1))
    str = property(lambda self: {"O": "|O", "c": "<c16"}.get(self.kind) or (
        "<" + self.kind + "8" + self.name[self.name.index("["):] if self.kind in "mM" else self.name))

    def __eq__(self, other):
        if isinstance(other, np.dtype):
            return other.name == self.name
        return other in (self.type, self.name) or isinstance(other, builtins.str) and other in (self.str, self.str[1:])

    __hash__ = np.dtype.__hash__

    def __repr__(self):
        return f"dtype('{self.short}')"

    @property
    def short(self):
        return {"O": "O", "S": self.name[1:], "c": self.name, "U": self.name.removesuffix("0") if self.name == "<U0" else self.name}.get(
            self.kind, self.str)


# As many characters as the numbers of a type may take.
_WIDTHS = {"bool": 5, "int8": 4, "uint8": 3, "int16": 6, "uint16": 5, "int32": 11, "uint32": 10, "int64": 21}


def _width(items, kind=None):
    """What texts of numbers are as wide as, where they come from an array of them or stand beside texts."""
    if kind is not None and kind[0] != "|":
        return _WIDTHS.get(kind, 32)
    return max([5 if isinstance(v, bool) else 21 if isinstance(v, int) else 32 if isinstance(v, float) else len(v if isinstance(v, bytes) else str(v))
                for v in items], default=1)


def _kind(items, given, of=None):
    """The name of the type `given`, or of what there is; `of` names the numbers that it was."""
    name = str(getattr(given, "name", getattr(given, "__name__", given)))
    if name in ("object", "O"):
        return "object"
    if name in ("complex", "complex128", "c16", "<c16", "D"):
        return "complex128"
    times = [v for v in items if isinstance(v, _dates._Time)]
    if name[:2] in ("M8", "m8", "da", "ti") or name[1:3] in ("M8", "m8") or given is None and times and len(times) == len(items):
        cls, unit = (type(times[0]), None) if given is None else _dates.unit_of(name)
        items[:], name = _dates.made(items, cls, unit)
        return name
    if given is None and items and all([isinstance(v, bytes) for v in items]) or name.lstrip("|<")[:1] == "S" or name in ("bytes", "bytes_"):
        return f"|S{name.lstrip('|<')[1:] if name.lstrip('|<')[1:].isdigit() else max(_width(items), 1)}"
    wide = name.lstrip("<=|")
    if wide[:1] == "U" and wide[1:].isdigit() and (wide != "U0" or not items):
        return "<" + wide
    if wide in ("U", "U0", "str", "str_") or given is None and any([isinstance(v, str) for v in items]) and all(
            [isinstance(v, (str, bool, int, float)) for v in items]):
        return f"<U{max(_width(items if given is None else [v if isinstance(v, bytes) else str(v) for v in items], of), 1) if items or given is None else 0}"
    if given is None and items and all([isinstance(v, (int, float, complex)) for v in items]):
        return "complex128"
    if given is None:
        return "object"
    raise TypeError(f"data type {given!r} not understood")


def _text(v, kind):
    """An element of a type of texts, cut to its length."""
    if kind[0] == "|":
        return (v if isinstance(v, bytes) else str(v).encode("ascii"))[:int(kind[2:]) or None]
    return (v.decode("ascii") if isinstance(v, bytes) else str(v))[:int(kind[2:]) or None]


def _converted(items, kind):
    if kind[0] in "<|":
        return [_text(v, kind) for v in items]
    return [complex(v) for v in items] if kind[0] == "c" else list(items)


def _numbers(items, name):
    """Texts and objects as numbers of a type."""
    family = np.dtype(name).kind

    def one(v):
        if v is None and family == "f":
            return math.nan
        if isinstance(v, complex):
            raise TypeError(f"{'float' if family == 'f' else 'int'}() argument must be a string or a real number, not 'complex'")
        if family == "b":
            return bool(v)
        if not isinstance(v, (str, bytes)):
            return float(v) if family == "f" else int(v)
        v = v.decode("ascii") if isinstance(v, bytes) else v
        try:
            return float(v) if family == "f" else int(v)
        except ValueError:
            raise ValueError(f"could not convert string to float: {v!r}" if family == "f" else
                             f"invalid literal for int() with base 10: {v!r}") from None
    return [one(v) for v in items]


def _shape(nested, deep):
    if hasattr(nested, "shape"):
        return tuple(nested.shape)
    if not isinstance(nested, (list, tuple)) or not deep:
        return ()
    inner = [_shape(v, deep) for v in nested]
    same = inner and all([s == inner[0] for s in inner])
    return (len(nested),) + (inner[0] if same else ())


def _flat(nested, rank):
    return [v for part in nested for v in _flat(part, rank - 1)] if rank else [nested]


def made_of(data, dtype=None, of=None):
    """What `numpy.array` makes of what is no array of numbers; `of` names the type of numbers that are to be something else."""
    if isinstance(data, (list, tuple)) and any(hasattr(v, "numpy") for v in data):
        # Tensors on a device.
        return np.array([np.array(v) for v in data], dtype)
    from numpy import _records
    if _records.is_structured(dtype):
        return _records.made(data, dtype)
    if isinstance(data, _records.Records):
        return data.copy()
    if isinstance(data, ObjectArray):
        return data.astype(dtype or data.dtype)
    shape = _shape(data, True)
    items = _flat(data, len(shape))
    if dtype is not None and not isinstance(dtype, _Kind):
        try:
            return np.array(_numbers(items, np._name(dtype)), dtype).reshape(shape)
        except TypeError as e:
            if "not understood" not in str(e):
                raise
    kind = _kind(items, dtype, of)
    return ObjectArray(_converted(items, kind), np.arange(len(items)).reshape(shape), kind)


def filled(shape, value, dtype):
    from numpy import _records
    if _records.is_structured(dtype):
        return _records.filled(shape, value, dtype)
    places = np.arange(int(np.prod(shape))).reshape(shape)
    items = [value]
    kind = _kind(items, dtype)
    if dtype is not None and kind[0] in "<|" and value == 0 and not isinstance(value, (str, bytes)):
        items, kind = [""], kind if np.dtype(dtype).name[2:].isdigit() else kind[:2] + "1"
    return ObjectArray(_converted(items, kind) * places.size, places, kind)


def _key(v):
    return (v.real, v.imag) if isinstance(v, complex) else (getattr(v, "n", 0) is None, v)


class _rebuilt:
    """What a pickle calls to make an array: of pickles' functions only classes are called."""

    def __new__(cls, items, kind):
        return made_of(items, kind)


class ObjectArray:
    def __init__(self, items, places, kind):
        self._items, self._places, self.dtype = items, places, _Kind(kind)

    shape = property(lambda self: self._places.shape)
    ndim = property(lambda self: self._places.ndim)
    size = property(lambda self: self._places.size)
    T = property(lambda self: self._view(self._places.T))
    def _part(name):
        def put(self, values):
            given = np.broadcast_to(values, self.shape).reshape(-1).tolist()
            self[...] = np.array([complex(new, v.imag) if name == "real" else complex(v.real, new) for v, new in zip(self._flat(), given)]).reshape(self.shape)
        return property(lambda self: np.array([getattr(v, name) for v in self._flat()]).reshape(self.shape), put)

    real, imag = _part("real"), _part("imag")

    itemsize = property(lambda self: self.dtype.itemsize)
    nbytes = property(lambda self: self.size * self.itemsize)
    flat = property(lambda self: self.reshape(-1))

    def _view(self, places):
        return ObjectArray(self._items, places, self.dtype.name)

    def _flat(self):
        return [self._items[i] for i in self._places.reshape(-1).tolist()]

    def _each(self, function, *others):
        shape = np.broadcast_shapes(self.shape, *[np.shape(o) for o in others if not isinstance(o, str)])

        def spread(o):
            if isinstance(o, ObjectArray):
                return o._view(np.broadcast_to(o._places, shape))._flat()
            return np.broadcast_to(o, shape).reshape(-1).tolist() if isinstance(o, (np.ndarray, list, tuple)) else [o] * math.prod(shape)
        made = [function(*v) for v in zip(*[spread(o) for o in (self, *others)])]
        keep = self.dtype.kind == "O" and not (made and all([isinstance(v, bool) for v in made]))
        return np.array(made, object if keep else None if made or self.dtype.kind in "mM" else self.dtype).reshape(shape)

    def __getitem__(self, key):
        places = self._places[key]
        return self._view(places) if isinstance(places, np.ndarray) and places.ndim else self._items[int(places)]

    def __setitem__(self, key, value):
        places = self._places[key]
        if not isinstance(places, np.ndarray) or not places.ndim:
            self._items[int(places)] = self._kept([value])[0]
            return
        values = value._flat() if isinstance(value, ObjectArray) else list(value) if isinstance(value, (list, tuple)) else (
            value.reshape(-1).tolist() if isinstance(value, np.ndarray) else [value])
        for i, v in zip(places.reshape(-1).tolist(), self._kept(values) * (places.size // max(len(values), 1))):
            self._items[i] = v

    def _kept(self, values):
        return _converted(values, self.dtype.name) if self.dtype.kind in "USc" else values

    def __len__(self):
        return len(self._places)

    def __iter__(self):
        return iter([self[i] for i in range(len(self))])

    def tolist(self):
        return self._items[int(self._places)] if not self.ndim else [v.tolist() if isinstance(v, ObjectArray) else v for v in self]

    def reshape(self, *shape):
        return self._view(self._places.reshape(*shape))

    def ravel(self):
        return self.reshape(-1)

    flatten = ravel

    def copy(self):
        return ObjectArray(self._flat(), np.arange(self.size).reshape(self.shape), self.dtype.name)

    def astype(self, dtype, copy=True):
        try:
            name = np._name(dtype)
        except TypeError:
            name = None
        if name is None or isinstance(dtype, _Kind):
            items = self._flat()
            kind = _kind(items, dtype)
            return ObjectArray(_converted(items, kind), np.arange(self.size).reshape(self.shape), kind)
        if self.dtype.kind in "mM":
            return np.array([v.n for v in self._flat()], name).reshape(self.shape)
        if self.dtype.kind == "c":
            import warnings
            warnings.warn("Casting complex values to real discards the imaginary part", np.exceptions.ComplexWarning, stacklevel=2)
            return self.real.astype(dtype)
        return np.array(_numbers(self._flat(), name), name).reshape(self.shape)

    def item(self, *index):
        return self[index] if index else self._flat()[0]

    def fill(self, value):
        self[...] = value

    def transpose(self, *axes):
        return self._view(self._places.transpose(*axes))

    def squeeze(self, axis=None):
        return self._view(self._places.squeeze(axis))

    def repeat(self, repeats, axis=None):
        return self._view(self._places.repeat(repeats, axis))

    def take(self, indices, axis=None):
        return self[indices] if axis is None and self.ndim == 1 else self._view(np.take(self._places, indices, axis))

    def round(self, decimals=0):
        return self._each(lambda v: complex(round(v.real, decimals), round(v.imag, decimals)) if isinstance(v, complex) else round(v, decimals))

    def all(self, axis=None):
        return self.astype(bool).all(axis)

    def any(self, axis=None):
        return self.astype(bool).any(axis)

    def mean(self, axis=None):
        return self.sum(axis) / (self.size if axis is None else self.shape[axis])

    def max(self, axis=None):
        return self._reduced(max, axis)

    def min(self, axis=None):
        return self._reduced(min, axis)

    def prod(self, axis=None):
        return self._reduced(math.prod, axis)

    def sum(self, axis=None):
        return self._reduced(lambda row: sum(row[1:], row[0]) if row else 0, axis)

    def argmax(self, axis=None):
        return self._reduced(lambda row: row.index(max(row)), axis)

    def argmin(self, axis=None):
        return self._reduced(lambda row: row.index(min(row)), axis)

    def nonzero(self):
        return self.astype(bool).nonzero()

    def _reduced(self, function, axis):
        if axis is None:
            return function(self._flat())
        rows = self._view(np.moveaxis(self._places, axis, -1))
        made = [function(row._flat()) for row in rows.reshape(-1, self.shape[axis])]
        return np.array(made, self.dtype if self.dtype.kind == "O" else None).reshape(rows.shape[:-1])

    def sort(self, axis=-1):
        self[...] = self._ordered("sort", axis)

    def argsort(self, axis=-1, kind=None):
        return self._ordered("argsort", axis)

    def __matmul__(self, other):
        return np.matmul(self, other)

    def __rmatmul__(self, other):
        return np.matmul(other, self)

    dot = __matmul__

    def __reduce__(self):
        return _rebuilt, (self.tolist(), self.dtype.name)

    def _ordered(self, name, axis):
        """`sort` and `argsort`; what is no time comes last."""
        if name not in ("sort", "argsort"):
            raise NotImplementedError(f"numpy.{name} of an array of {self.dtype}")
        if self.ndim > 1 and axis is not None:
            rows = self._view(np.moveaxis(self._places, axis, -1))
            made = [row._ordered(name, -1).tolist() for row in rows.reshape(-1, rows.shape[-1])]
            made = np.array(made, None if name == "argsort" else self.dtype).reshape(rows.shape)
            return np.moveaxis(made, -1, axis) if name == "argsort" else made._view(np.moveaxis(made._places, -1, axis))
        values = self._flat()
        order = sorted(range(len(values)), key=lambda i: _key(values[i]))
        return np.array(order, np.int64) if name == "argsort" else self.reshape(-1)[np.array(order, np.int64)].copy()

    def conj(self):
        return self._each(lambda v: v.conjugate())

    conjugate = conj

    def __abs__(self):
        return self._each(abs)

    def __neg__(self):
        return self._each(operator.neg)

    def __repr__(self):
        return np.array_repr(self)

    def __str__(self):
        return np.array_str(self)

    def __contains__(self, value):
        return value in self._flat()


def _between(name):
    function = getattr(operator, name)
    return lambda self, other: self._each(function, other), lambda self, other: self._each(lambda a, b: function(b, a), other)


_FUNCTIONS = {"sqrt": cmath.sqrt, "exp": cmath.exp, "log": cmath.log, "log10": cmath.log10, "sin": cmath.sin, "cos": cmath.cos, "tan": cmath.tan,
              "sinh": cmath.sinh, "cosh": cmath.cosh, "tanh": cmath.tanh, "absolute": abs, "negative": operator.neg, "square": lambda v: v * v,
              "reciprocal": lambda v: 1 / v, "isnan": lambda v: v != v, "isfinite": cmath.isfinite, "isinf": cmath.isinf,
              "logical_not": operator.not_}
_OPERATORS = {"add": "add", "subtract": "sub", "multiply": "mul", "divide": "truediv", "floor_divide": "floordiv", "remainder": "mod",
              "power": "pow", "equal": "eq", "not_equal": "ne", "less": "lt", "less_equal": "le", "greater": "gt", "greater_equal": "ge",
              "bitwise_and": "and_", "bitwise_or": "or_", "bitwise_xor": "xor"}
_PAIRS = {"maximum": max, "minimum": min, "logical_and": lambda a, b: bool(a and b), "logical_or": lambda a, b: bool(a or b)}


def unary(name, x):
    if x.dtype.kind == "O" and name not in ("absolute", "negative", "square", "reciprocal", "logical_not", "isnan"):
        raise TypeError(f"loop of ufunc does not support argument 0 of type {type(x._flat()[0]).__name__} which has no callable {name} method")
    if x.dtype.kind in "US" or name not in _FUNCTIONS:
        raise TypeError(f"ufunc '{name}' not supported for the input types, and the inputs could not be safely coerced to any supported types "
                        "according to the casting rule ''safe''")
    return x._each(_FUNCTIONS[name])


def binary(name, a, b):
    function = _PAIRS.get(name) or name in _OPERATORS and getattr(operator, _OPERATORS[name])
    if not function:
        raise TypeError(f"ufunc '{name}' not supported for the input types, and the inputs could not be safely coerced to any supported types "
                        "according to the casting rule ''safe''")
    return a._each(function, b) if hasattr(a, "_places") else b._each(lambda v, w: function(w, v), a)


def chosen(condition, x, y):
    """`numpy.where` of texts and objects."""
    condition, x, y = [np._as(v) for v in (condition, x, y)]
    shape = np.broadcast_shapes(condition.shape, x.shape, y.shape)
    kinds = [v.dtype for v in (x, y)]
    spread = lambda v: v._view(np.broadcast_to(v._places, shape))._flat() if hasattr(v, "_places") else np.broadcast_to(v, shape).reshape(-1).tolist()
    items = [v if c else w for c, v, w in zip(spread(condition.astype(bool)), spread(x), spread(y))]
    if any([k.kind == "O" for k in kinds]):
        return made_of(items, object).reshape(shape)
    if any([k.kind in "US" for k in kinds]):
        wide = max([k.itemsize // 4 if k.kind == "U" else _width([], k.name) for k in kinds])
        return made_of(items, f"<U{wide}").reshape(shape)
    return np.array(items, None if items else kinds[0]).reshape(shape)


def joined(arrays, axis):
    """`numpy.concatenate` where texts or objects are among them."""
    arrays = [np._as(a) for a in arrays]
    first = arrays[0]
    kinds = [a.dtype for a in arrays]
    if axis is None:
        arrays, axis = [a.reshape(-1) for a in arrays], 0
    items, places = [], []
    for a in arrays:
        places.append(np.arange(len(items), len(items) + a.size).reshape(a.shape))
        items += a._flat() if hasattr(a, "_places") else a.reshape(-1).tolist()
    if any([k.kind == "O" for k in kinds]):
        kind = "object"
    elif any([k.kind == "U" for k in kinds]):
        kind = f"<U{max([k.itemsize // 4 if k.kind == 'U' else _width([], k.name) for k in kinds])}"
    else:
        kind = "complex128" if any([k.kind == "c" for k in kinds]) else first.dtype.name
    return ObjectArray(_converted(items, kind), np.concatenate(places, axis), kind)


for _name in "eq ne lt le gt ge add sub mul truediv floordiv mod pow and_ or_ xor".split():
    _there, _back = _between(_name)
    _name = _name.rstrip("_")
    setattr(ObjectArray, f"__{_name}__", _there)
    if _name not in ("eq", "ne", "lt", "le", "gt", "ge"):
        setattr(ObjectArray, f"__r{_name}__", _back)
ObjectArray.__hash__ = None
