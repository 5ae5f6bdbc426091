"""Structured types: an array for each field, all of one shape."""

import numpy as np
from numpy._objects import ObjectArray, _Kind, _converted
from numpy._print import _formatter

_SHORT = {"bool": "?", "int8": "i1", "uint8": "u1", "int16": "<i2", "uint16": "<u2", "int32": "<i4", "uint32": "<u4", "int64": "<i8",
          "float16": "<f2", "float32": "<f4", "float64": "<f8", "object": "O"}


def is_structured(kind):
    return isinstance(kind, (list, dict, Fields)) or isinstance(kind, str) and "," in kind


class Fields(np.dtype):
    """A type of named fields."""

    def __init__(self, kind):
        if isinstance(kind, Fields):
            self._types = kind._types
        else:
            kind = list(zip(kind["names"], kind["formats"])) if isinstance(kind, dict) else kind
            pairs = [(f"f{i}", k.strip()) for i, k in enumerate(kind.split(","))] if isinstance(kind, str) else kind
            if [p for p in pairs if len(p) > 2 and p[2] not in (1, ())]:
                raise NotImplementedError("fields that are arrays in a structured type")
            self._types = {p[0]: _element(p[1]) for p in pairs}
        self.name = str([(n, _SHORT.get(k.name) or k.short) for n, k in self._types.items()])

    names = property(lambda self: tuple(self._types))
    kind = property(lambda self: "V")
    itemsize = property(lambda self: sum([k.itemsize for k in self._types.values()]))
    descr = property(lambda self: [(n, k.str) for n, k in self._types.items()])
    fields = property(lambda self: {n: (k, sum([o.itemsize for o in list(self._types.values())[:i]])) for i, (n, k) in enumerate(self._types.items())})
    str = property(lambda self: f"|V{self.itemsize}")

    def __reduce__(self):
        return np.dtype, (self.descr,)

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
    made = np.dtype(kind)
    if made.names:
        raise NotImplementedError("fields of fields in a structured type")
    return made


def _field(values, kind, shape):
    if not isinstance(kind, _Kind):
        return np.array(values, kind).reshape(shape)
    return ObjectArray(_converted(values, kind.name), np.arange(len(values)).reshape(shape), kind.name)


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
    empty = lambda kind: {"U": "", "S": b""}.get(kind.kind, 0) if not value else value
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
        if isinstance(value, list) and value and isinstance(value[0], (tuple, void)):
            value = made([v.item() if isinstance(v, void) else v for v in value], self.dtype)
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

    def __reduce__(self):
        return _rebuilt, (self.tolist(), self.dtype.descr)

    def __getattr__(self, name):
        # As NumPy's record arrays have them.
        if name.startswith("_") or name not in self._parts:
            raise AttributeError(f"'numpy.ndarray' object has no attribute '{name}'")
        return self._parts[name]

    def ravel(self):
        return self.reshape(-1)

    def squeeze(self, axis=None):
        return self._those(lambda a: a.squeeze(axis))

    def _view(self, places):
        return self._those(lambda a: a.reshape(-1)[places])

    def sort(self, axis=-1, kind=None, order=None):
        found = self._ordered("sort", axis, order).copy()
        for n in self._parts:
            self._parts[n][...] = found[n]

    def __eq__(self, other):
        made = True
        for n in self.dtype.names:
            made = np.logical_and(made, self[n] == other[n])
        return made

    __hash__ = None

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


def joined(arrays, axis):
    return Records({n: np.concatenate([np._as(a)[n] for a in arrays], axis) for n in arrays[0].dtype.names}, arrays[0].dtype)


class _rebuilt:
    """What a pickle calls to make an array: of pickles' functions only classes are called."""

    def __new__(cls, rows, kind):
        return made(rows, kind)


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
