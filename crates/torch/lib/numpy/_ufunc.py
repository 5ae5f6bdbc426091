"""What functions of two operands do along an axis (`add.reduce`, `maximum.accumulate`), at places (`add.at`), and to all pairs."""

import numpy as np

_ALONG = {"add": ("sum", "cumsum"), "multiply": ("prod", "cumprod"), "maximum": ("max", None), "minimum": ("min", None),
          "logical_and": ("all", None), "logical_or": ("any", None)}
# What a reduction of nothing gives.
_EMPTY = {"bitwise_and": -1, "bitwise_or": 0, "bitwise_xor": 0, "logical_xor": False}


def _at(function):
    def at(a, indices, b):
        """Every place as often as it is named, one after another."""
        places = np.arange(a.size).reshape(a.shape)[tuple([np.asarray(i) for i in indices]) if isinstance(indices, tuple) else np.asarray(indices)]
        values = np.broadcast_to(np.asarray(b), np.shape(places)).reshape(-1)
        flat = a.reshape(-1).copy()
        for i, v in zip(np.reshape(places, -1).tolist(), values.tolist()):
            flat[i] = function(flat[i], v)
        a[...] = flat.reshape(a.shape)
    return at


def _accumulate(function, named):
    def accumulate(array, axis=0, dtype=None, out=None):
        array = np.asarray(array, dtype)
        if named:
            return getattr(np, named)(array, axis=axis, out=out)
        rows = [np.take(array, i, axis=axis) for i in range(array.shape[axis])]
        for i in range(1, len(rows)):
            rows[i] = function(rows[i - 1], rows[i])
        return np._given(np.stack(rows, axis=axis), out, None)
    return accumulate


def _reduce(name):
    return lambda array, axis=0, dtype=None, out=None, keepdims=False, **others: getattr(np, name)(
        np.asarray(array, dtype), axis=axis, out=out, keepdims=keepdims, **others)


def _fold(function, name):
    def reduce(array, axis=0, dtype=None, out=None, keepdims=False, initial=None):
        array = np.asarray(array, dtype)
        shape = [1 if axis is None or d == axis % array.ndim else n for d, n in enumerate(array.shape)]
        rows = array.reshape(-1) if axis is None else np.moveaxis(array, axis, 0)
        if initial is None and not len(rows):
            if name not in _EMPTY:
                raise ValueError(f"zero-size array to reduction operation {name} which has no identity")
            return np.full(rows.shape[1:], _EMPTY[name], array.dtype)[()]
        rows = list(rows) if initial is None else [np.full(rows.shape[1:], initial, array.dtype)[()], *rows]
        made = rows[0]
        for row in rows[1:]:
            made = function(made, row)
        return np._given(np.reshape(made, shape) if keepdims else made, out, None)
    return reduce


def _reduceat(function, reduce):
    def reduceat(array, indices, axis=0, dtype=None, out=None):
        array, made = np.moveaxis(np.asarray(array, dtype), axis, 0), []
        ends = list(indices)[1:] + [len(array)]
        for first, last in zip(indices, ends):
            made.append(reduce(array[first:last]) if last > first else array[first])
        return np._given(np.moveaxis(np.stack([np._as(m) for m in made]), 0, axis), out, None)
    return reduceat


def _outer(function):
    def outer(A, B):
        a, b = np.asarray(A), np.asarray(B)
        return function(a.reshape(tuple(a.shape) + (1,) * b.ndim), b)
    return outer


for _name in ("add subtract multiply divide floor_divide remainder power maximum minimum logical_and logical_or logical_xor bitwise_and bitwise_or "
              "bitwise_xor left_shift right_shift greater greater_equal less less_equal equal not_equal hypot arctan2 fmax fmin gcd lcm "
              "logaddexp").split():
    _function = getattr(np, _name)
    _function.at, _function.outer, _function.nin, _function.nout = _at(_function), _outer(_function), 2, 1
    _reduction, _running = _ALONG.get(_name, (None, None))
    _function.accumulate = _accumulate(_function, _running)
    _function.reduce = _reduce(_reduction) if _reduction else _fold(_function, _name)
    _function.reduceat = _reduceat(_function, _function.reduce)


class _Index:
    """`s_[1:3, ..]`: an index as a value; `index_exp[..]`: as a tuple."""

    def __init__(self, always):
        self._always = always

    def __getitem__(self, index):
        return (index,) if self._always and not isinstance(index, tuple) else index


s_, index_exp = _Index(False), _Index(True)
