"""Functions of NumPy that are made of others."""

import _numpy
from _numpy import ndarray
import builtins
import math
import numpy as np

__all__ = """einsum tensordot kron cross trace vander polyfit polyval poly1d interp gradient convolve correlate cov corrcoef logaddexp
nanmean nansum nanmax nanmin nanstd nanvar atleast_1d atleast_2d atleast_3d dstack hsplit vsplit fliplr flipud rot90 delete insert
union1d intersect1d setdiff1d setxor1d digitize histogram2d meshgrid_ ix_ indices fromfunction apply_along_axis argpartition partition
lexsort take_along_axis put_along_axis tril_indices triu_indices diag_indices diagonal fill_diagonal unravel_index ravel_multi_index
trapezoid trapz deg2rad rad2deg degrees radians sinc arcsinh arccosh arctanh cbrt exp2 heaviside vectorize ndenumerate ndindex
array_equiv geomspace tri extract select piecewise copyto broadcast_arrays broadcast_shapes positive fmod divmod modf nancumsum
nan_to_num_ ediff1d resize rollaxis iterable hanning hamming blackman block r_ c_ mgrid ogrid array2string printoptions get_printoptions
require invert bitwise_not intc uintp longlong uint64 int_ byte short ubyte ushort generic inexact signedinteger unsignedinteger
floating_ True_ False_ cumulative_sum conj real imag isreal iscomplexobj isrealobj nanmedian nanargmax nanargmin nanprod nanpercentile
choose compress concat pow permute_dims astype unwrap isneginf isposinf copysign signbit gcd lcm acos asin atan atan2 trim_zeros
""".split()


def _letters(subscripts, operands):
    if "..." in subscripts:
        ranks = [a.ndim for a in operands]
        inputs = subscripts.split("->")[0].split(",")
        spare = builtins.max([n - (len(part) - 3) for n, part in zip(ranks, inputs) if "..." in part])
        free = [c for c in "ABCDEFGHIJKLMNOPQRSTUVWXYZ" if c not in subscripts][:spare]
        parts = []
        for part, n in zip(inputs, ranks):
            own = n - (len(part) - 3) if "..." in part else 0
            parts.append(part.replace("...", "".join(free[spare - own:])))
        left, arrow, right = subscripts.partition("->")
        if arrow:
            right = right.replace("...", "".join(free))
        else:
            plain = left.replace("...", "").replace(",", "")
            right = "".join(free) + "".join(sorted([c for c in set(plain) if plain.count(c) == 1]))
        return ",".join(parts) + "->" + right
    if "->" not in subscripts:
        plain = subscripts.replace(",", "")
        return subscripts + "->" + "".join(sorted([c for c in set(plain) if plain.count(c) == 1]))
    return subscripts


def einsum(subscripts, *operands, optimize=False, **others):
    """Pairs from the left; letters that neither the result nor another operand has are summed as soon as they can be."""
    arrays = [np._as(a) for a in operands]
    left, right = _letters(subscripts.replace(" ", ""), arrays).split("->")
    terms = [_diagonals(t, a) for t, a in zip(left.split(","), arrays)]
    sizes = {}
    for names, a in terms:
        for c, n in zip(names, a.shape):
            if sizes.setdefault(c, n) != n and n != 1:
                if sizes[c] != 1:
                    raise ValueError(f"operands could not be broadcast together with remapped shapes: size {n} and {sizes[c]} of '{c}'")
                sizes[c] = n
    while len(terms) > 1:
        (xs, x), (ys, y) = terms[0], terms[1]
        kept = set(right)
        for names, _ in terms[2:]:
            kept |= set(names)
        terms = [_contracted(xs, x, ys, y, kept)] + terms[2:]
    names, a = terms[0]
    gone = tuple([i for i, c in enumerate(names) if c not in right])
    a = a.sum(gone) if gone else a
    names = "".join([c for c in names if c in right])
    a = np._as(a)
    return np.transpose(a, [names.index(c) for c in right]) if names else a[()]


def _diagonals(names, a):
    for c in dict.fromkeys(names):
        while names.count(c) > 1:
            i = names.index(c)
            j = names.index(c, i + 1)
            order = [k for k in range(a.ndim) if k not in (i, j)] + [i, j]
            moved = np.transpose(a, order)
            n = moved.shape[-1]
            a = moved.reshape(moved.shape[:-2] + (n * n,))[..., ::n + 1]
            names = "".join([x for k, x in enumerate(names) if k not in (i, j)]) + c
    return names, a


def _contracted(xs, x, ys, y, kept):
    both = [c for c in xs if c in ys]
    batch = [c for c in both if c in kept]
    summed = [c for c in both if c not in kept]
    for names in (xs, ys):
        gone = [c for c in names if c not in both and c not in kept]
        if gone and names is xs:
            x = np._as(x.sum(tuple([xs.index(c) for c in gone])))
            xs = "".join([c for c in xs if c not in gone])
        elif gone:
            y = np._as(y.sum(tuple([ys.index(c) for c in gone])))
            ys = "".join([c for c in ys if c not in gone])
    rows, columns = [c for c in xs if c not in both], [c for c in ys if c not in both]
    size = {c: n for c, n in zip(xs + ys, x.shape + y.shape)}
    x = np.transpose(x, [xs.index(c) for c in batch + rows + summed])
    y = np.transpose(y, [ys.index(c) for c in batch + summed + columns])

    def shape(*groups):
        return tuple([math.prod([size[c] for c in g]) for g in groups])
    lead = tuple([size[c] for c in batch])
    made = x.reshape(lead + shape(rows, summed)) @ y.reshape(lead + shape(summed, columns))
    return "".join(batch + rows + columns), made.reshape(lead + tuple([size[c] for c in rows + columns]))


def tensordot(a, b, axes=2):
    a, b = np._as(a), np._as(b)
    if isinstance(axes, int):
        left, right = list(range(a.ndim - axes, a.ndim)), list(range(axes))
    else:
        left, right = [[d] if isinstance(d, int) else list(d) for d in axes]
    left, right = [d % a.ndim for d in left], [d % b.ndim for d in right]
    rows = [d for d in range(a.ndim) if d not in left]
    columns = [d for d in range(b.ndim) if d not in right]
    n = math.prod([a.shape[d] for d in left])
    made = np.transpose(a, rows + left).reshape(-1, n) @ np.transpose(b, right + columns).reshape(n, -1)
    return made.reshape(tuple([a.shape[d] for d in rows] + [b.shape[d] for d in columns]))


def kron(a, b):
    a, b = np._as(a), np._as(b)
    made = a[:, None, :, None] * b[None, :, None, :]
    return made.reshape(a.shape[0] * b.shape[0], a.shape[1] * b.shape[1])


def cross(a, b, axis=-1):
    a, b = np.moveaxis(np._as(a), axis, 0), np.moveaxis(np._as(b), axis, 0)
    return np.moveaxis(np.stack([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]), 0, axis)


def diagonal(a, offset=0):
    return np.diag(np._as(a), offset)


def trace(a, offset=0):
    return np.diag(np._as(a), offset).sum()


def vander(x, N=None, increasing=False):
    x = np._as(x)
    N = len(x) if N is None else N
    return np.stack([x ** (i if increasing else N - 1 - i) for i in range(N)], 1)


def polyfit(x, y, deg):
    x, y = np._as(x).astype("float64"), np._as(y).astype("float64")
    columns = vander(x, deg + 1)
    scale = np.sqrt(np.square(columns).sum(0))
    made = np.linalg.lstsq(columns / scale, y)[0]
    return (made.T / scale).T


def polyval(p, x):
    made = np.multiply(x, 0.0)
    for c in np._as(p):
        made = made * x + c
    return made


class poly1d:
    def __init__(self, c):
        self.coeffs = self.c = np._as(c)
        self.order = len(self.c) - 1

    def __call__(self, x):
        return polyval(self.c, x)

    def __getitem__(self, power):
        return self.c[self.order - power] if power <= self.order else 0


def interp(x, xp, fp, left=None, right=None):
    xs, ys = np._as(xp).tolist(), np._as(fp).tolist()
    low, high = ys[0] if left is None else left, ys[-1] if right is None else right

    def one(v):
        if v < xs[0]:
            return low
        if v > xs[-1]:
            return high
        at = int(np.searchsorted(np._as(xs), v, "right")) - 1
        if at >= len(xs) - 1:
            return ys[-1]
        return ys[at] + (ys[at + 1] - ys[at]) * (v - xs[at]) / (xs[at + 1] - xs[at])
    if isinstance(x, (int, float)):
        return float(one(x))
    return np.array([float(one(v)) for v in np._as(x).reshape(-1).tolist()]).reshape(np._as(x).shape)


def gradient(f, spacing=1.0, axis=-1):
    f = np.moveaxis(np._as(f).astype("float64"), axis, 0)
    made = np.concatenate([(f[1:2] - f[:1]), (f[2:] - f[:-2]) / 2.0, (f[-1:] - f[-2:-1])]) / spacing
    return np.moveaxis(made, 0, axis)


def convolve(a, v, mode="full"):
    a, v = np._as(a), np._as(v)
    if len(v) > len(a):
        a, v = v, a
    n, k = len(a), len(v)
    kind = (a[:1] * v[:1]).dtype
    padded = np.concatenate([np.zeros(k - 1, kind), a, np.zeros(k - 1, kind)])
    full = np.stack([padded[i:i + n + k - 1] for i in range(k)], 1) @ v[::-1]
    if mode == "valid":
        return full[k - 1:n]
    return full[(k - 1) // 2:(k - 1) // 2 + n] if mode == "same" else full


def correlate(a, v, mode="valid"):
    return convolve(a, np._as(v)[::-1], mode)


def cov(m, y=None, rowvar=True, bias=False, ddof=None):
    m = np._as(m).astype("float64")
    m = m.reshape(1, -1) if m.ndim == 1 else m if rowvar else m.T
    if y is not None:
        m = np.concatenate([m, np._as(y).reshape(-1, m.shape[1])])
    ddof = (0 if bias else 1) if ddof is None else ddof
    apart = m - m.mean(1, keepdims=True)
    made = apart @ apart.T / (m.shape[1] - ddof)
    return made[0, 0] if made.shape == (1, 1) else made


def corrcoef(x, y=None, rowvar=True):
    made = np._as(cov(x, y, rowvar))
    if made.ndim == 0:
        return 1.0
    d = np.sqrt(np.diag(made))
    return np.clip(made / d[:, None] / d[None, :], -1, 1)


def logaddexp(x1, x2):
    return np.maximum(x1, x2) + np.log1p(np.exp(-np.absolute(np.subtract(x1, x2))))


def _without(a, axis, fill):
    a = np._as(a)
    return np.where(np.isnan(a), fill, a), np.logical_not(np.isnan(a)).sum(axis)


def nansum(a, axis=None):
    return np.sum(_without(a, axis, 0.0)[0], axis)


def nanprod(a, axis=None):
    return np.prod(_without(a, axis, 1.0)[0], axis)


def nancumsum(a, axis=None):
    return np.cumsum(_without(a, axis, 0.0)[0], axis)


def nanmean(a, axis=None):
    values, count = _without(a, axis, 0.0)
    return np.sum(values, axis) / count


def nanvar(a, axis=None, ddof=0):
    a = np._as(a)
    count = np.logical_not(np.isnan(a)).sum(axis)
    mean = nanmean(a, axis) if axis is None else np.expand_dims(nanmean(a, axis), axis)
    return nansum(np.square(a - mean), axis) / (count - ddof)


def nanstd(a, axis=None, ddof=0):
    return np.sqrt(nanvar(a, axis, ddof))


def nanmax(a, axis=None):
    return np.max(_without(a, axis, -math.inf)[0], axis)


def nanmin(a, axis=None):
    return np.min(_without(a, axis, math.inf)[0], axis)


def nanargmax(a, axis=None):
    return np.argmax(_without(a, axis, -math.inf)[0], axis)


def nanargmin(a, axis=None):
    return np.argmin(_without(a, axis, math.inf)[0], axis)


def nanpercentile(a, q, axis=None):
    a = np._as(a)
    if axis is None:
        return np.percentile(a[np.logical_not(np.isnan(a))], q)
    return apply_along_axis(lambda v: np.percentile(v[np.logical_not(np.isnan(v))], q), axis, a)


def nanmedian(a, axis=None):
    return nanpercentile(a, 50, axis)


def atleast_1d(*arrays):
    made = [a.reshape(1) if a.ndim == 0 else a for a in map(np._as, arrays)]
    return made[0] if len(made) == 1 else tuple(made)


def atleast_2d(*arrays):
    made = [a.reshape(1, -1) if a.ndim < 2 else a for a in map(np._as, arrays)]
    return made[0] if len(made) == 1 else tuple(made)


def atleast_3d(*arrays):
    made = [a.reshape(1, -1, 1) if a.ndim < 2 else a[..., None] if a.ndim == 2 else a for a in map(np._as, arrays)]
    return made[0] if len(made) == 1 else tuple(made)


def dstack(tup):
    return np.concatenate([atleast_3d(a) for a in tup], 2)


def hsplit(ary, indices_or_sections):
    return np.split(ary, indices_or_sections, 1 if ary.ndim > 1 else 0)


def vsplit(ary, indices_or_sections):
    return np.split(ary, indices_or_sections, 0)


def fliplr(m):
    return np.flip(m, 1)


def flipud(m):
    return np.flip(m, 0)


def rot90(m, k=1, axes=(0, 1)):
    for _ in range(k % 4):
        m = np.flip(np.swapaxes(m, axes[0], axes[1]), axes[0])
    return m


def _places(obj, n):
    if isinstance(obj, slice):
        return list(range(n))[obj]
    obj = [obj] if isinstance(obj, int) else np._as(obj).tolist()
    return [i % n for i in obj]


def delete(arr, obj, axis=None):
    arr = np._as(arr)
    if axis is None:
        arr, axis = arr.reshape(-1), 0
    gone = set(_places(obj, arr.shape[axis]))
    return np.take(arr, [i for i in range(arr.shape[axis]) if i not in gone], axis)


def insert(arr, obj, values, axis=None):
    arr = np._as(arr)
    if axis is None:
        arr, axis = arr.reshape(-1), 0
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


def apply_along_axis(func1d, axis, arr, *args, **kwargs):
    arr = np.moveaxis(np._as(arr), axis, -1)
    made = [func1d(row, *args, **kwargs) for row in arr.reshape(-1, arr.shape[-1])]
    made = np.array([m.tolist() if isinstance(m, ndarray) else m for m in made])
    made = made.reshape(arr.shape[:-1] + made.shape[1:])
    return np.moveaxis(made, -1, axis) if made.ndim == arr.ndim else made


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
    return arr[_along(indices, axis % arr.ndim, arr.ndim)]


def put_along_axis(arr, indices, values, axis):
    arr[_along(np._as(indices), axis % arr.ndim, arr.ndim)] = values


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


def trapezoid(y, x=None, dx=1.0, axis=-1):
    y = np.moveaxis(np._as(y), axis, -1)
    width = dx if x is None else np.diff(np._as(x))
    return (width * (y[..., 1:] + y[..., :-1]) / 2.0).sum(-1)


trapz = trapezoid


def deg2rad(x):
    return np.multiply(x, math.pi / 180)


def rad2deg(x):
    return np.multiply(x, 180 / math.pi)


radians, degrees = deg2rad, rad2deg


def sinc(x):
    y = np.where(np.equal(x, 0), 1e-20, x) * math.pi
    return np.sin(y) / y


def arcsinh(x):
    return np.sign(x) * np.log(np.absolute(x) + np.sqrt(np.square(x) + 1.0))


def arccosh(x):
    return np.log(x + np.sqrt(np.square(x) - 1.0))


def arctanh(x):
    return 0.5 * (np.log1p(x) - np.log1p(np.negative(x)))


def cbrt(x):
    return np.sign(x) * np.absolute(x) ** (1.0 / 3.0)


def exp2(x):
    return np.power(2.0, x)


def heaviside(x1, x2):
    return np.where(np.equal(x1, 0), x2, np.where(np.greater(x1, 0), 1.0, 0.0))


class vectorize:
    def __init__(self, pyfunc, otypes=None, **others):
        self.pyfunc, self.otypes = pyfunc, otypes

    def __call__(self, *args):
        arrays = broadcast_arrays(*args)
        made = np.array([self.pyfunc(*values) for values in zip(*[a.reshape(-1).tolist() for a in arrays])])
        made = made if self.otypes is None else made.astype(self.otypes[0])
        return made.reshape(arrays[0].shape)


def ndindex(*shape):
    shape = shape[0] if len(shape) == 1 and isinstance(shape[0], tuple) else shape
    places = [()]
    for n in shape:
        places = [p + (i,) for p in places for i in range(n)]
    return iter(places)


def ndenumerate(arr):
    arr = np._as(arr)
    return iter([(place, arr[place]) for place in ndindex(arr.shape)])


def array_equiv(a1, a2):
    return builtins.bool(np._as(np.equal(a1, a2)).all())


def geomspace(start, stop, num=50):
    return np.exp(np.linspace(math.log(start), math.log(stop), num))


def extract(condition, arr):
    return np._as(arr).reshape(-1)[np._as(condition).reshape(-1)]


compress = extract


def select(condlist, choicelist, default=0):
    made = default
    for condition, choice in reversed(list(zip(condlist, choicelist))):
        made = np.where(condition, choice, made)
    return made


def piecewise(x, condlist, funclist):
    made = np.zeros(x.shape, x.dtype) if len(funclist) == len(condlist) else _value(funclist[-1], x)
    for condition, f in zip(condlist, funclist):
        made = np.where(condition, _value(f, x), made)
    return made


def _value(f, x):
    return f(x) if callable(f) else np.full(x.shape, f, x.dtype)


def choose(a, choices):
    made = choices[0]
    for i in range(1, len(choices)):
        made = np.where(np.equal(a, i), choices[i], made)
    return made


def copyto(dst, src):
    dst[...] = src


def broadcast_shapes(*shapes):
    import torch
    return tuple(torch.broadcast_shapes(*shapes))


def broadcast_arrays(*args):
    arrays = [np._as(a) for a in args]
    shape = broadcast_shapes(*[a.shape for a in arrays])
    return tuple([np.broadcast_to(a, shape) for a in arrays])


def positive(x):
    return x


def fmod(x1, x2):
    return x1 - np.trunc(np.divide(x1, x2)) * x2


def divmod(x1, x2):
    return np.floor_divide(x1, x2), np.remainder(x1, x2)


def modf(x):
    whole = np.trunc(x)
    return x - whole, whole


def copysign(x1, x2):
    return np.where(np.less(x2, 0), -np.absolute(x1), np.absolute(x1))


def signbit(x):
    return np.less(x, 0)


def gcd(x1, x2):
    return vectorize(math.gcd)(x1, x2)


def lcm(x1, x2):
    return vectorize(math.lcm)(x1, x2)


def isneginf(x):
    return np.equal(x, -math.inf)


def isposinf(x):
    return np.equal(x, math.inf)


def ediff1d(ary):
    return np.diff(np._as(ary).reshape(-1))


def resize(a, new_shape):
    a, n = np._as(a).reshape(-1), math.prod([new_shape] if isinstance(new_shape, int) else new_shape)
    return np.tile(a, -(-n // a.size))[:n].reshape(new_shape)


def iterable(y):
    return hasattr(y, "__iter__")


def unwrap(p):
    p = np._as(p)
    steps = np.diff(p)
    turns = np.cumsum(np.concatenate([np.zeros(1), -np.round((steps) / (2 * math.pi))]))
    return p + turns * (2 * math.pi)


def trim_zeros(filt):
    values = list(filt)
    while values and values[0] == 0:
        values.pop(0)
    while values and values[-1] == 0:
        values.pop()
    return np.array(values)


def _window(a, b, c):
    def window(M):
        n = np.arange(M) * (2 * math.pi / builtins.max(M - 1, 1))
        return a - b * np.cos(n) + c * np.cos(2 * n)
    return window


hanning, hamming, blackman = _window(0.5, 0.5, 0.0), _window(0.54, 0.46, 0.0), _window(0.42, 0.5, 0.08)


def block(arrays):
    if isinstance(arrays, list) and arrays and isinstance(arrays[0], list):
        return np.concatenate([block(row) for row in arrays], 0)
    return np.concatenate([np._as(a) for a in arrays], -1) if isinstance(arrays, list) else np._as(arrays)


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
            made.append(atleast_1d(np._as(p)))
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


def array2string(a, max_line_width=None, precision=None, suppress_small=None, separator=" ", **others):
    if separator != " ":
        raise NotImplementedError("numpy.array2string(separator=..)")
    return np.array_str(a, max_line_width, precision, suppress_small)


class printoptions:
    def __init__(self, **settings):
        self._settings = settings

    def __enter__(self):
        from numpy import _print
        self._before = dict(_print._options) if hasattr(_print, "_options") else {}
        np.set_printoptions(**self._settings)
        return self

    def __exit__(self, *exc):
        np.set_printoptions(**self._before)
        return False


def require(a, dtype=None, requirements=None):
    return np.asarray(a, dtype)


def invert(x):
    x = np._as(x)
    return np.logical_not(x) if x.dtype.name == "bool" else np.bitwise_xor(x, -1)


bitwise_not = invert
intc, uintp, longlong, byte, short, ubyte, ushort = np.int32, np.uint32, np.int64, np.int8, np.int16, np.uint8, np.uint16
True_, False_ = True, False


class generic:
    pass


inexact, signedinteger, unsignedinteger = np.floating, np.integer, np.integer


def conj(x):
    return x


real = conj


def imag(x):
    return np.zeros_like(x)


def isreal(x):
    return np.ones_like(x, "bool")


def iscomplexobj(x):
    return False


def isrealobj(x):
    return True


def astype(x, dtype):
    return x.astype(dtype)


concat, pow, permute_dims, cumulative_sum = np.concatenate, np.power, np.transpose, np.cumsum
acos, asin, atan, atan2 = np.arccos, np.arcsin, np.arctan, np.arctan2
rollaxis = np.moveaxis
__all__ = [name for name in __all__ if name in globals()]
