"""Places of elements: indices, grids, orders and sets."""

import builtins
import numpy as np

__all__ = """ix_ indices fromfunction take_along_axis put_along_axis tri tril_indices triu_indices diag_indices fill_diagonal unravel_index ravel_multi_index
ndindex ndenumerate argpartition partition lexsort digitize histogram2d union1d intersect1d setdiff1d setxor1d diagonal
trace delete insert r_ c_ mgrid ogrid""".split()


def diagonal(a, offset=0):
    return np.diag(np._as(a), offset)


def trace(a, offset=0):
    return np.diag(np._as(a), offset).sum()


def _places(obj, n):
    if isinstance(obj, slice):
        return list(range(n))[obj]
    obj = [obj] if isinstance(obj, int) else np._as(obj).tolist()
    return [i % n for i in obj]


def delete(arr, obj, axis=None):
    arr = np._as(arr)
    if axis is None:
        arr, axis = arr.reshape(-1), 0
    axis = np._axis_of(axis, arr.ndim)
    gone = set(_places(obj, arr.shape[axis]))
    return np.take(arr, [i for i in range(arr.shape[axis]) if i not in gone], axis)


def insert(arr, obj, values, axis=None):
    arr = np._as(arr)
    if axis is None:
        arr, axis = arr.reshape(-1), 0
    axis = np._axis_of(axis, arr.ndim)
    at = obj if obj >= 0 else obj + arr.shape[axis]
    shape = list(arr.shape)
    shape[axis] = 1 if np._as(values).ndim < arr.ndim or arr.ndim == 1 and np._as(values).ndim == 0 else np._as(values).shape[axis]
    if arr.ndim == 1:
        shape[0] = np._as(values).size
    middle = np.broadcast_to(np._as(values).astype(arr.dtype).reshape(-1) if arr.ndim == 1 else np.expand_dims(np._as(values), axis)
                             if np._as(values).ndim == arr.ndim - 1 and np._as(values).ndim else np._as(values), tuple(shape)).astype(arr.dtype)
    return np.concatenate([np.take(arr, list(range(at)), axis), middle, np.take(arr, list(range(at, arr.shape[axis])), axis)], axis)


def union1d(ar1, ar2):
    return np.unique(np.concatenate([np._as(ar1).reshape(-1), np._as(ar2).reshape(-1)]))


def intersect1d(ar1, ar2):
    first = np.unique(ar1)
    return first[np.isin(first, ar2)]


def setdiff1d(ar1, ar2):
    first = np.unique(ar1)
    return first[np.logical_not(np.isin(first, ar2))]


def setxor1d(ar1, ar2):
    return np.sort(np.concatenate([setdiff1d(ar1, ar2), setdiff1d(ar2, ar1)]))


def digitize(x, bins, right=False):
    marks = np._as(bins).tolist()
    down = len(marks) > 1 and marks[0] > marks[-1]
    if marks != sorted(marks, reverse=down):
        raise ValueError("bins must be monotonically increasing or decreasing")
    if down:
        return len(marks) - np.searchsorted(marks[::-1], x, "right" if right else "left")
    return np.searchsorted(bins, x, "left" if right else "right")


def histogram2d(x, y, bins=10, range=None):
    bins = (bins, bins) if isinstance(bins, int) else bins
    x, y = np._as(x), np._as(y)
    edges = [np.linspace(v.min() if range is None else range[i][0], v.max() if range is None else range[i][1], n + 1)
             for i, (v, n) in enumerate(zip((x, y), bins))]
    made = np.zeros(tuple(bins))
    for a, b in zip(x.tolist(), y.tolist()):
        i, j = [int(np.searchsorted(e, v, "right")) - 1 for e, v in zip(edges, (a, b))]
        i, j = i - (a == edges[0][-1]), j - (b == edges[1][-1])
        if 0 <= i < bins[0] and 0 <= j < bins[1]:
            made[i, j] += 1
    return made, edges[0], edges[1]


def ix_(*args):
    made = []
    for i, a in enumerate(args):
        a = np._as(a)
        a = a.nonzero()[0] if a.dtype.name == "bool" else a
        made.append(a.reshape((1,) * i + (-1,) + (1,) * (len(args) - i - 1)))
    return tuple(made)


def indices(dimensions):
    grids = np.meshgrid(*[np.arange(n) for n in dimensions], indexing="ij")
    return np.stack(list(grids))


def fromfunction(function, shape, dtype=float):
    return function(*[g.astype(dtype) for g in indices(shape)])


def argpartition(a, kth, axis=-1):
    return np.argsort(a, axis)


def partition(a, kth, axis=-1):
    return np.sort(a, axis)


def lexsort(keys):
    order = list(range(len(keys[0])))
    for key in keys:
        values = np._as(key).tolist()
        order.sort(key=lambda i: values[i])
    return np.array(order)


def _along(indices, axis, ndim):
    places = []
    for d in range(ndim):
        shape = [1] * ndim
        shape[d] = -1
        places.append(indices if d == axis else np.arange(indices.shape[d]).reshape(tuple(shape)))
    return tuple(places)


def take_along_axis(arr, indices, axis):
    arr, indices = np._as(arr), np._as(indices)
    return arr[_along(indices, np._axis_of(axis, arr.ndim), arr.ndim)]


def put_along_axis(arr, indices, values, axis):
    arr[_along(np._as(indices), np._axis_of(axis, arr.ndim), arr.ndim)] = values


def tri(N, M=None, k=0, dtype="float64"):
    return np.tril(np.ones((N, N if M is None else M)), k).astype(dtype)


def tril_indices(n, k=0, m=None):
    return np.tril(np.ones((n, n if m is None else m)), k).nonzero()


def triu_indices(n, k=0, m=None):
    return np.triu(np.ones((n, n if m is None else m)), k).nonzero()


def diag_indices(n, ndim=2):
    return (np.arange(n),) * ndim


def fill_diagonal(a, val, wrap=False):
    n = builtins.min(a.shape)
    a[np.arange(n), np.arange(n)] = val


def unravel_index(indices, shape):
    one = isinstance(indices, int)
    left, made = np.array([indices])[0] if one else np._as(indices), []
    for n in reversed(shape):
        made.insert(0, left % n)
        left = left // n
    return tuple([m if one else np._as(m) for m in made])


def ravel_multi_index(multi_index, dims):
    made = 0
    for i, n in zip(multi_index, dims):
        made = made * n + i
    return made


def ndindex(*shape):
    shape = shape[0] if len(shape) == 1 and isinstance(shape[0], tuple) else shape
    places = [()]
    for n in shape:
        places = [p + (i,) for p in places for i in range(n)]
    return iter(places)


def ndenumerate(arr):
    arr = np._as(arr)
    return iter([(place, arr[place]) for place in ndindex(arr.shape)])


class _Joined:
    """`np.r_[..]` and `np.c_[..]`."""

    def __init__(self, columns):
        self._columns = columns

    def __getitem__(self, parts):
        parts = parts if isinstance(parts, tuple) else (parts,)
        made = []
        for p in parts:
            if isinstance(p, slice):
                start, step = p.start or 0, 1 if p.step is None else p.step
                p = np.arange(start, p.stop, step)
            made.append(np.atleast_1d(np._as(p)))
        return np.column_stack(made) if self._columns else np.concatenate(made)


r_, c_ = _Joined(False), _Joined(True)


class _Grid:
    """`np.mgrid[..]` and `np.ogrid[..]`: a complex step, which counts points, is not there."""

    def __init__(self, whole):
        self._whole = whole

    def __getitem__(self, parts):
        one = isinstance(parts, slice)
        axes = [np.arange(p.start or 0, p.stop, 1 if p.step is None else p.step) for p in ([parts] if one else parts)]
        if one:
            return axes[0]
        return np.stack(list(np.meshgrid(*axes, indexing="ij"))) if self._whole else ix_(*axes)


mgrid, ogrid = _Grid(True), _Grid(False)
