"""Structured types: an array for each field, all of one shape."""

import numpy as np
from numpy._objects import ObjectArray, _Kind, made_of
from numpy._print import _formatter

_SHORT = {"bool": "?", "int8": "i1", "uint8": "u1", "int16": "<i2", "uint16": "<u2", "int32": "<i4", "uint32": "<u4", "int64": "<i8",
          "float16": "<f2", "float32": "<f4", "float64": "<f8", "object": "O"}


def is_structured(kind):
    return isinstance(kind, (list, Fields)) or isinstance(kind, str) and "," in kind


class Fields(np.dtype):
    """A type of named fields."""

    def __init__(self, kind):
        if isinstance(kind, Fields):
            self._types = kind._types
        else:
            pairs = [(f"f{i}", k.strip()) for i, k in enumerate(kind.split(","))] if isinstance(kind, str) else kind
            self._types = {name: _element(k) for name, k in pairs}
        self.name = str([(n, _SHORT.get(k.name, k.name)) for n, k in self._types.items()])

    names = property(lambda self: tuple(self._types))
    kind = property(lambda self: "V")
    itemsize = property(lambda self: sum([k.itemsize for k in self._types.values()]))

    def __getitem__(self, name):
        return list(self._types.values())[name] if isinstance(name, int) else self._types[name]

    def __len__(self):
        return len(self._types)

    def __eq__(self, other):
        return is_structured(other) and Fields(other).name == self.name

    def __hash__(self):
        return hash(self.name)

    def __repr__(self):
        return f"dtype({self.name})"


def _element(kind):
    try:
        return np.dtype(kind)
    except TypeError:
        name = str(getattr(kind, "__name__", kind)).lstrip("<")
        if name[:1] not in "UO" and name not in ("str", "object"):
            raise TypeError(f"data type {kind!r} not understood; fields are numbers, texts of a length and objects")
        return _Kind("object" if name in ("O", "object") else "<" + (name if name[0] == "U" and name != "U" else "U0"))


def _field(values, kind, shape):
    if not isinstance(kind, _Kind):
        return np.array(values, kind).reshape(shape)
    convert = str if kind.kind == "U" else lambda v: v
    return ObjectArray([convert(v) for v in values], np.arange(len(values)).reshape(shape), kind.name)


def made(data, dtype):
    """What `numpy.array` makes of tuples, or of lists of them."""
    dtype = Fields(dtype)
    shape, rows = [], [data]
    while rows and isinstance(rows[0], list):
        shape.append(len(rows[0]))
        rows = [v for part in rows for v in part]
    for row in rows:
        if len(row) != len(dtype):
            raise ValueError(f"could not assign tuple of length {len(row)} to structure with {len(dtype)} fields.")
    return Records({n: _field([row[i] for row in rows], k, shape) for i, (n, k) in enumerate(dtype._types.items())}, dtype)


def filled(shape, value, dtype):
    dtype = Fields(dtype)
    shape = (shape,) if isinstance(shape, int) else tuple(shape)
    size = np.broadcast_shapes(shape) and int(np.prod(shape))
    empty = lambda kind: "" if kind.kind == "U" and not value else value or 0
    return Records({n: _field([empty(k)] * size, k, shape) for n, k in dtype._types.items()}, dtype)


class Records:
    def __init__(self, parts, dtype):
        self._parts, self.dtype = parts, dtype

    shape = property(lambda self: next(iter(self._parts.values())).shape)
    ndim = property(lambda self: len(self.shape))
    size = property(lambda self: int(np.prod(self.shape)))
    itemsize = property(lambda self: self.dtype.itemsize)
    _places = property(lambda self: np.arange(self.size).reshape(self.shape))

    def _those(self, change, names=None):
        parts = {n: change(a) for n, a in self._parts.items() if names is None or n in names}
        return Records(parts, Fields([(n, self.dtype[n]) for n in parts]))

    def __getitem__(self, key):
        if isinstance(key, str):
            if key not in self._parts:
                raise ValueError(f"no field of name {key}")
            return self._parts[key]
        if isinstance(key, list) and key and isinstance(key[0], str):
            return self._those(lambda a: a, key)
        one = not np.shape(self._places[key])
        return void(self, key) if one else self._those(lambda a: a[key])

    def __setitem__(self, key, value):
        if isinstance(key, str):
            self[key][...] = value
            return
        values = list(value._parts.values()) if isinstance(value, Records) else list(value)
        for a, v in zip(self._parts.values(), values):
            a[key] = v

    def __len__(self):
        return self.shape[0]

    def __iter__(self):
        return iter([self[i] for i in range(len(self))])

    def tolist(self):
        if not self.ndim:
            return tuple([a.tolist() for a in self._parts.values()])
        return [self[i].tolist() for i in range(len(self))]

    def reshape(self, *shape):
        return self._those(lambda a: a.reshape(*shape))

    def copy(self):
        return self._those(lambda a: a.copy())

    def _ordered(self, name, axis, order=None):
        order = self.dtype.names if order is None else [order] if isinstance(order, str) else order
        keys = list(zip(*[self[n].tolist() for n in order]))
        places = np.array(sorted(range(len(keys)), key=lambda i: keys[i]))
        return places if name == "argsort" else self[places]

    def _formatter(self, values):
        writers = [_formatter([v[i] for v in values], k.name) for i, k in enumerate(self.dtype._types.values())]
        return lambda v: "(" + ", ".join([w(x) for w, x in zip(writers, v)]) + ("," if len(v) == 1 else "") + ")"

    def __repr__(self):
        return np.array_repr(self)

    def __str__(self):
        return np.array_str(self)


class void:
    """An element: its fields by name and place, which are the array's."""

    ndim, shape, size = 0, (), 1

    def __init__(self, of, key):
        self._of, self._key, self.dtype = of, key, of.dtype

    def _name(self, field):
        return self.dtype.names[field] if isinstance(field, int) else field

    def __getitem__(self, field):
        return self._of[self._name(field)][self._key]

    def __setitem__(self, field, value):
        self._of[self._name(field)][self._key] = value

    def __len__(self):
        return len(self.dtype)

    def __iter__(self):
        return iter([self[n] for n in self.dtype.names])

    def item(self):
        return tuple([v.item() if hasattr(v, "item") else v for v in self])

    tolist = item

    def __eq__(self, other):
        return self.item() == (other.item() if isinstance(other, void) else other)

    def __hash__(self):
        return hash(self.item())

    def __str__(self):
        return str(self.item())

    def __repr__(self):
        return f"np.void({self}, dtype={self.dtype})"


void.__module__ = "numpy"
