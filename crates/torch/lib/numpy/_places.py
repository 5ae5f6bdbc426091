"""Places of elements: indices, grids, orders and sets."""

import builtins
import math
import numpy as np

__all__ = """ix_ indices fromfunction take_along_axis put_along_axis tri tril_indices triu_indices diag_indices fill_diagonal unravel_index ravel_multi_index
ndindex ndenumerate argpartition partition lexsort digitize union1d intersect1d setdiff1d setxor1d diagonal
trace delete insert r_ c_ mgrid ogrid
meshgrid triu tril diag bincount searchsorted isin""".split()


def diagonal(a, offset=0, axis1=0, axis2=1):
    a = np.moveaxis(np._as(a), (axis1, axis2), (-2, -1))
    rows, columns = a.shape[-2:]
    n = builtins.max(builtins.min(rows + builtins.min(offset, 0), columns - builtins.max(offset, 0)), 0)
    at = np.arange(n)
    return a[..., at - builtins.min(offset, 0), at + builtins.max(offset, 0)]


def trace(a, offset=0, axis1=0, axis2=1, dtype=None):
    return diagonal(a, offset, axis1, axis2).sum(-1, dtype)


def _places(obj, n):
    if isinstance(obj, slice):
        return list(range(n))[obj]
    given = [obj] if isinstance(obj, int) else np._as(obj)
    obj = given if isinstance(given, list) else given.nonzero()[0].tolist() if given.dtype.name == "bool" else given.reshape(-1).tolist()
    for i in obj:
        if not -n <= i < n:
            raise IndexError(f"index {i} is out of bounds for axis 0 with size {n}")
    return [int(i) % n for i in obj]


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
    arr = np.moveaxis(arr, axis, 0)
    n, values = arr.shape[0], np._as(values)
    one = isinstance(obj, int)
    at = [obj] if one else _places(obj, n) if isinstance(obj, slice) else np._as(obj).reshape(-1)
    at = at.nonzero()[0].tolist() if hasattr(at, "dtype") and at.dtype.name == "bool" else list(at)
    for i in at:
        if not -n <= i <= n:
            raise IndexError(f"index {i} is out of bounds for axis {axis} with size {n}")
    at = [int(i) + n if i < 0 else int(i) for i in at]
    if one:
        # One place takes as many as lie along the first dimension.
        values = values.reshape((1,) * (arr.ndim - values.ndim) + values.shape)
        at = at * values.shape[0]
    elif values.ndim < arr.ndim:
        values = values if arr.ndim == 1 else np.moveaxis(
            np.broadcast_to(values, tuple(np.moveaxis(arr[:1], 0, axis).shape)), axis, 0)
    else:
        values = np.moveaxis(values, axis, 0)
    values = np.broadcast_to(values, (len(at),) + arr.shape[1:]).astype(arr.dtype)
    order = sorted(range(len(at)), key=lambda i: at[i])
    both, places, next = np.concatenate([arr, values]), [], 0
    for i in range(n + 1):
        while next < len(order) and at[order[next]] == i:
            places.append(n + order[next])
            next += 1
        places += [i] if i < n else []
    return np.moveaxis(np.take(both, places, 0), 0, axis)


def union1d(ar1, ar2):
    return np.unique(np.concatenate([np._as(ar1).reshape(-1), np._as(ar2).reshape(-1)]))


def intersect1d(ar1, ar2, assume_unique=False, return_indices=False):
    first, at = np.unique(ar1, return_index=True)
    kept = np.isin(first, ar2)
    made = first[kept]
    if not return_indices:
        return made
    second, there = np.unique(ar2, return_index=True)
    return made, at[kept], there[np.searchsorted(second, made)]


def setdiff1d(ar1, ar2, assume_unique=False):
    first = np.unique(ar1)
    return first[np.logical_not(np.isin(first, ar2))]


def setxor1d(ar1, ar2, assume_unique=False):
    return np.sort(np.concatenate([setdiff1d(ar1, ar2), setdiff1d(ar2, ar1)]))


def digitize(x, bins, right=False):
    marks = np._as(bins).tolist()
    down = len(marks) > 1 and marks[0] > marks[-1]
    if marks != sorted(marks, reverse=down):
        raise ValueError("bins must be monotonically increasing or decreasing")
    if down:
        return len(marks) - np.searchsorted(marks[::-1], x, "right" if right else "left")
    return np.searchsorted(bins, x, "left" if right else "right")


def ix_(*args):
    made = []
    for i, a in enumerate(args):
        a = np._as(a)
        a = a.nonzero()[0] if a.dtype.name == "bool" else a
        made.append(a.reshape((1,) * i + (-1,) + (1,) * (len(args) - i - 1)))
    return tuple(made)


def indices(dimensions, dtype=int, sparse=False):
    grids = np.meshgrid(*[np.arange(n, dtype=dtype) for n in dimensions], indexing="ij", sparse=sparse)
    return grids if sparse else np.stack(list(grids))


def fromfunction(function, shape, dtype=float, **kwargs):
    return function(*[g.astype(dtype) for g in indices(shape)], **kwargs)


def argpartition(a, kth, axis=-1, kind=None, order=None):
    return np.argsort(a, axis)


def partition(a, kth, axis=-1, kind=None, order=None):
    return np.sort(a, axis)


def lexsort(keys, axis=-1):
    if np.ndim(keys[0]) > 1:
        made = None
        for key in keys:
            key = np._as(key) if made is None else take_along_axis(key, made, axis)
            order = np.argsort(key, axis, kind="stable")
            made = order if made is None else take_along_axis(made, order, axis)
        return made
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
    at = np.arange(builtins.min(a.shape))
    if wrap and a.ndim == 2 and a.shape[0] > a.shape[1]:
        at = np.arange(0, a.size, a.shape[1] + 1)
        a[at // a.shape[1], at % a.shape[1]] = np.resize(val, at.shape) if np.ndim(val) else val
        return
    a[(at,) * a.ndim] = np.resize(val, at.shape) if np.ndim(val) else val


def unravel_index(indices, shape, order="C"):
    shape = (shape,) if isinstance(shape, int) else shape
    left, made = np.array(indices), []
    if np.any(left >= math.prod(shape)) or np.any(left < 0):
        wrong = int(left.reshape(-1)[np.argmax(np.logical_or(left >= math.prod(shape), left < 0).reshape(-1))])
        raise ValueError(f"index {wrong} is out of bounds for array with size {math.prod(shape)}")
    for n in reversed(shape) if order == "C" else shape:
        made.append(left % n)
        left = left // n
    made = made[::-1] if order == "C" else made
    return tuple([np._scalar(np._as(m)) for m in made])


def ravel_multi_index(multi_index, dims, mode="raise", order="C"):
    parts, made = [np._as(i) for i in multi_index], 0
    modes = (mode,) * len(parts) if isinstance(mode, str) else mode
    for i, n, how in zip(parts, dims, modes):
        if how == "raise" and np.any(np.logical_or(i < 0, i >= n)):
            raise ValueError("invalid entry in coordinates array")
    parts = [np.clip(i, 0, n - 1) if how == "clip" else i % n for i, n, how in zip(parts, dims, modes)]
    for i, n in zip(parts, dims) if order == "C" else list(zip(parts, dims))[::-1]:
        made = made * n + i
    return np._scalar(np._as(made))


def ndindex(*shape):
    shape = shape[0] if len(shape) == 1 and isinstance(shape[0], tuple) else shape
    places = [()]
    for n in shape:
        places = [p + (i,) for p in places for i in range(n)]
    return iter(places)


def ndenumerate(arr):
    arr = np._as(arr)
    return iter([(place, arr[place]) for place in ndindex(arr.shape)])


def meshgrid(*xi, indexing="xy", sparse=False, copy=True):
    xs = [np._as(x) for x in xi]
    n = len(xs)
    out = []
    for i, x in enumerate(xs):
        place = 1 - i if indexing == "xy" and i < 2 and n > 1 else i
        sizes = [len(v) for v in xs]
        if indexing == "xy" and n > 1:
            sizes[0], sizes[1] = sizes[1], sizes[0]
        x = x.reshape([-1 if d == place else 1 for d in range(n)])
        out.append(x if sparse else np.broadcast_to(x, sizes).copy() if isinstance(x, np.ndarray) else x._view(np.broadcast_to(x._places, sizes)))
    return tuple(out)


def triu(m, k=0):
    m = np._as(m)
    n, c = m.shape[-2:]
    return np.where(np.arange(n).reshape(-1, 1) + k <= np.arange(c), m, 0)


def tril(m, k=0):
    m = np._as(m)
    n, c = m.shape[-2:]
    return np.where(np.arange(n).reshape(-1, 1) + k >= np.arange(c), m, 0)


def diag(v, k=0):
    v = np._as(v)
    if v.ndim == 2:
        return diagonal(v, k)
    if v.ndim != 1:
        raise ValueError("Input must be 1- or 2-d.")
    n = len(v) + abs(k)
    made, at = np.zeros((n, n), v.dtype), np.arange(len(v))
    made[at + builtins.max(-k, 0), at + builtins.max(k, 0)] = v
    return made


def bincount(x, /, weights=None, minlength=0):
    values = np._as(x).astype("int64").tolist()
    if builtins.min(values, default=0) < 0:
        raise ValueError("'list' argument must have no negative elements")
    out = [0] * builtins.max(minlength, builtins.max(values, default=-1) + 1)
    for v, w in zip(values, [1] * len(values) if weights is None else np._as(weights).tolist()):
        out[v] += w
    return np.array(out, np.int64 if weights is None else np.float64)


def _range(p):
    """The numbers of a slice; a complex step says how many there are."""
    start, step = p.start or 0, 1 if p.step is None else p.step
    return np.linspace(start, p.stop, int(abs(step))) if isinstance(step, complex) else np.arange(start, p.stop, step)


class _Joined:
    """`np.r_[..]` and `np.c_[..]`; a text before the parts says along which axis, of how many dimensions and where a part's own begin."""

    def __init__(self, columns):
        self._columns = columns

    def __getitem__(self, parts):
        parts = list(parts) if isinstance(parts, tuple) else [parts]
        axis, rank, first = (-1, 2, 0) if self._columns else (0, 1, -1)
        if isinstance(parts[0], str):
            given = parts.pop(0)
            if given in ("r", "c"):
                raise NotImplementedError(f"numpy.r_[{given!r}, ..]: matrices")
            axis, rank, first = [int(n) for n in given.split(",")] + [rank, first][given.count(","):]
        made = []
        for p in parts:
            a = np._as(_range(p) if isinstance(p, slice) else p)
            missing = rank - a.ndim
            if missing > 0:
                # As many dimensions before a part's own as `first` says, counted from the last one's end.
                before = first if first >= 0 else missing + first + 1
                before = builtins.min(builtins.max(before, 0), missing)
                before = 0 if self._columns and first == 0 else before
                a = a.reshape((1,) * before + a.shape + (1,) * (missing - before))
            made.append(a)
        return np.concatenate(made, axis)


r_, c_ = _Joined(False), _Joined(True)


class _Grid:
    """`np.mgrid[..]` and `np.ogrid[..]`."""

    def __init__(self, whole):
        self._whole = whole

    def __getitem__(self, parts):
        if isinstance(parts, slice):
            return _range(parts)
        axes = [_range(p) for p in parts]
        kind = np.result_type(*axes)
        axes = [a.astype(kind) for a in axes]
        return np.stack(list(np.meshgrid(*axes, indexing="ij"))) if self._whole else ix_(*axes)


mgrid, ogrid = _Grid(True), _Grid(False)


def searchsorted(a, v, side="left", sorter=None):
    from bisect import bisect_left, bisect_right
    find, marks = bisect_left if side == "left" else bisect_right, np._as(a if sorter is None else np._as(a)[sorter]).tolist()
    values = np._as(v)
    if not values.ndim:
        return np.Int64(find(marks, values.item()))
    return np.array([find(marks, x) for x in values.reshape(-1).tolist()], np.int64).reshape(values.shape)


def isin(element, test_elements, assume_unique=False, invert=False, *, kind=None):
    # A set is one object, which nothing is equal to.
    known = set() if isinstance(test_elements, set) else set(np._as(test_elements).reshape(-1).tolist())
    e = np._as(element)
    made = np.array([(v in known) != invert for v in e.reshape(-1).tolist()], np.bool_).reshape(e.shape)
    return made if e.ndim else made[()]
