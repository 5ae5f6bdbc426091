"""What functions of two operands do along an axis (`add.reduce`, `maximum.accumulate`), at places (`add.at`), and to all pairs."""

import numpy as np

_ALONG = {"add": ("sum", "cumsum"), "multiply": ("prod", "cumprod"), "maximum": ("max", None), "minimum": ("min", None),
          "logical_and": ("all", None), "logical_or": ("any", None)}


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
        array = np.asarray(array)
        if named:
            return getattr(np, named)(array, axis=axis)
        rows = [np.take(array, i, axis=axis) for i in range(array.shape[axis])]
        for i in range(1, len(rows)):
            rows[i] = function(rows[i - 1], rows[i])
        return np.stack(rows, axis=axis)
    return accumulate


def _reduce(name):
    return lambda array, axis=0, dtype=None, out=None, keepdims=False, **others: getattr(np, name)(
        np.asarray(array, dtype), axis=axis, out=out, keepdims=keepdims, **others)


def _outer(function):
    def outer(A, B):
        a, b = np.asarray(A), np.asarray(B)
        return function(a.reshape(tuple(a.shape) + (1,) * b.ndim), b)
    return outer


for _name in "add subtract multiply divide power maximum minimum logical_and logical_or bitwise_and bitwise_or greater less equal".split():
    _function = getattr(np, _name)
    _function.at, _function.outer = _at(_function), _outer(_function)
    _reduction, _running = _ALONG.get(_name, (None, None))
    _function.accumulate = _accumulate(_function, _running)
    if _reduction:
        _function.reduce = _reduce(_reduction)


class _Index:
    """`s_[1:3, ..]`: an index as a value."""

    def __getitem__(self, index):
        return index


s_ = index_exp = _Index()
