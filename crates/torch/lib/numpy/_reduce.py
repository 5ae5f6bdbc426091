"""Reductions: of the elements that `where` chooses, from an `initial` value on, along axes that have to be there."""

import _numpy
import numpy as np
from numpy.exceptions import AxisError
import operator

# What a reduction of nothing gives, and how a result goes on.
_START = {"sum": 0, "prod": 1, "any": False, "all": True}
_GOES_ON = {"sum": "add", "prod": "multiply", "max": "maximum", "min": "minimum"}
_NONE = object()


def axis_of(axis, rank, prefix=None):
    """An axis counted from the front."""
    axis = operator.index(axis)
    if not -rank <= axis < rank:
        raise AxisError(axis, rank, prefix)
    return axis % rank


def reduced(name, a, axis, keepdims=False, ddof=0, initial=_NONE, where=True):
    if hasattr(a, "_places"):
        return _of_objects(name, a, axis, keepdims, where, initial)
    if axis is not None:
        for d in axis if isinstance(axis, (tuple, list)) else (axis,):
            axis_of(d, a.ndim)
    if where is not True and where is not None:
        if name in ("mean", "var", "std"):
            return _of_some(name, a, axis, keepdims, ddof, where)
        start = _START.get(name, initial)
        if start is _NONE:
            raise ValueError(f"reduction operation '{_GOES_ON[name]}' does not have an identity, so to use a where mask one has to "
                             "specify 'initial'")
        a = np._chosen(where, a, start)
    if initial is _NONE or initial is None:
        return _numpy.reduce(name, a, axis, keepdims, ddof)
    if not a.size and name in ("max", "min"):
        shape = np.shape(_numpy.reduce("sum", a, axis, keepdims, 0))
        return np.full(shape, initial, a.dtype)[()]
    return getattr(np, _GOES_ON[name])(_numpy.reduce(name, a, axis, keepdims, 0), initial)


def _of_objects(name, a, axis, keepdims, where, initial):
    if where is not True or initial is not _NONE or not hasattr(a, name) or isinstance(axis, (tuple, list)):
        raise NotImplementedError(f"numpy.{name} of an array of {a.dtype} with these options")
    made = getattr(a, name)(axis)
    return made if not keepdims else np._as(made).reshape([1 if axis is None or d == axis % a.ndim else n for d, n in enumerate(a.shape)])


def _of_some(name, a, axis, keepdims, ddof, where):
    count = np.sum(np.broadcast_to(where, a.shape), axis, keepdims=keepdims)
    if name == "mean":
        return np.sum(a, axis, keepdims=keepdims, where=where) / count
    apart = a - np.mean(a, axis, keepdims=True, where=where)
    made = np.sum(apart * apart, axis, keepdims=keepdims, where=where) / np.maximum(count - ddof, 0)
    return made if name == "var" else np.sqrt(made)
