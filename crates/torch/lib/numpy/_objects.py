"""Arrays of texts, complex numbers and any objects: a list of what is there, and where each place's stands as an array of numbers."""

import math
import numpy as np
from numpy import _dates
import operator


class _Kind(np.dtype):
    def __init__(self, name):
        self.name = name
        self.type = {"O": object, "U": str}.get(self.kind, complex)

    kind = property(lambda self: {"o": "O", "<": "U", "d": "M", "t": "m"}.get(self.name[0], "c"))
    itemsize = property(lambda self: 8 if self.kind == "O" else 16 if self.kind == "c" else 4 * int(self.name[2:]))

    def __eq__(self, other):
        return other in (self.type, self.name) or isinstance(other, _Kind) and other.name == self.name

    __hash__ = np.dtype.__hash__

    def __repr__(self):
        return f"dtype('{'O' if self.kind == 'O' else self.name}')"


def _kind(items, given):
    name = str(getattr(given, "name", getattr(given, "__name__", given)))
    if name in ("object", "O"):
        return "object"
    if name.startswith("complex"):
        return "complex128"
    times = [v for v in items if isinstance(v, _dates._Time)]
    if name[:2] in ("M8", "m8", "da", "ti") or name[1:3] in ("M8", "m8") or given is None and times and len(times) == len(items):
        cls, unit = (type(times[0]), None) if given is None else _dates.unit_of(name)
        items[:], name = _dates.made(items, cls, unit)
        return name
    if name == "str" or name[:2] in ("<U", "U") or given is None and any([isinstance(v, str) for v in items]):
        return f"<U{max([len(str(v)) for v in items], default=1)}"
    if given is None and items and all([isinstance(v, (int, float, complex)) for v in items]):
        return "complex128"
    if given is None:
        return "object"
    raise TypeError(f"data type {given!r} not understood")


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


def made_of(data, dtype=None):
    """What `numpy.array` makes of what is no array of numbers."""
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
    kind = _kind(items, dtype)
    convert = complex if kind[0] == "c" else str if kind[0] == "<" else lambda v: v
    return ObjectArray([convert(v) for v in items], np.arange(len(items)).reshape(shape), kind)


def filled(shape, value, dtype):
    from numpy import _records
    if _records.is_structured(dtype):
        return _records.filled(shape, value, dtype)
    places = np.arange(int(np.prod(shape))).reshape(shape)
    items = [value if value or dtype in (complex, "complex") else None if dtype in (object, "object", "O") and value == "" else value]
    return ObjectArray(items * places.size, places, _kind(items, dtype))


class ObjectArray:
    def __init__(self, items, places, kind):
        self._items, self._places, self.dtype = items, places, _Kind(kind)

    shape = property(lambda self: self._places.shape)
    ndim = property(lambda self: self._places.ndim)
    size = property(lambda self: self._places.size)
    T = property(lambda self: self._view(self._places.T))
    real = property(lambda self: np.array([v.real for v in self._flat()]).reshape(self.shape))
    imag = property(lambda self: np.array([v.imag for v in self._flat()]).reshape(self.shape))

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
        return np.array([function(*v) for v in zip(*[spread(o) for o in (self, *others)])]).reshape(shape)

    def __getitem__(self, key):
        places = self._places[key]
        return self._view(places) if isinstance(places, np.ndarray) and places.ndim else self._items[int(places)]

    def __setitem__(self, key, value):
        places = self._places[key]
        if not isinstance(places, np.ndarray) or not places.ndim:
            self._items[int(places)] = value
            return
        values = value._flat() if isinstance(value, ObjectArray) else list(value) if isinstance(value, (list, tuple)) else [value] * places.size
        for i, v in zip(places.reshape(-1).tolist(), values * (places.size // len(values))):
            self._items[i] = v

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

    def astype(self, dtype):
        try:
            name = np._name(dtype.name if isinstance(dtype, _Kind) else dtype)
        except TypeError:
            items = self._flat()
            kind = _kind(items, dtype)
            return ObjectArray([str(v) if kind[0] == "<" else v for v in items], np.arange(self.size).reshape(self.shape), kind)
        times = self.dtype.kind in "mM"
        return np.array([v.n if times else (int if "int" in name else float)(v) for v in self._flat()], name).reshape(self.shape)

    def _ordered(self, name, axis):
        """`sort` and `argsort`; what is no time comes last."""
        if self.ndim > 1 and axis is not None or name not in ("sort", "argsort"):
            raise NotImplementedError(f"numpy.{name} of an array of {self.dtype} of {self.ndim} dimensions")
        values = self._flat()
        order = sorted(range(len(values)), key=lambda i: (getattr(values[i], "n", 0) is None, values[i]))
        return np.array(order) if name == "argsort" else self.reshape(-1)[order]

    def conj(self):
        return self._each(lambda v: v.conjugate())

    conjugate = conj

    def sum(self, axis=None):
        flat = self._flat()
        return sum(flat[1:], flat[0])

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


for _name in "eq ne lt le gt ge add sub mul truediv floordiv pow".split():
    _there, _back = _between(_name)
    setattr(ObjectArray, f"__{_name}__", _there)
    if _name in ("add", "sub", "mul", "truediv", "floordiv", "pow"):
        setattr(ObjectArray, f"__r{_name}__", _back)
ObjectArray.__hash__ = None
