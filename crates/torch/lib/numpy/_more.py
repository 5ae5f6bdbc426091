"""Functions of NumPy that are made of others."""

import _numpy
from _numpy import ndarray
from numpy import _by_zero
import bisect
import builtins
import math
import numpy as np
import warnings

__all__ = """result_type interp gradient convolve correlate cov corrcoef logaddexp nanmean nansum nanmax nanmin nanstd nanvar atleast_1d
atleast_2d atleast_3d dstack hsplit vsplit dsplit fliplr flipud rot90 apply_along_axis trapezoid trapz deg2rad rad2deg degrees radians
sinc arcsinh arccosh arctanh cbrt exp2 heaviside vectorize array_equiv geomspace extract select copyto broadcast_arrays broadcast_shapes
positive fmod divmod modf nancumsum nan_to_num ediff1d resize rollaxis iterable block array2string printoptions get_printoptions require
invert bitwise_not intc uintp longlong byte short ubyte ushort True_ False_ cumulative_sum conj conjugate angle real imag isreal iscomplex
iscomplexobj isrealobj nanmedian nanargmax nanargmin nanprod nanpercentile compress concat pow permute_dims astype isneginf isposinf
copysign signbit gcd lcm acos asin atan atan2 trim_zeros nextafter array_split roll promote_types fmax fmin fix""".split()


def result_type(*kinds):
    """What kinds and arrays are promoted to."""
    made = None
    for kind in kinds:
        one = kind if isinstance(kind, (int, float)) else np.zeros((), kind.dtype if hasattr(kind, "dtype") else kind)
        made = one if made is None else one + made
    return np._as(made).dtype


def alike(arrays):
    arrays = [np._as(a) for a in arrays]
    if arrays and [a for a in arrays if a.shape != arrays[0].shape]:
        raise ValueError("all input arrays must have the same shape")
    return arrays


def interp(x, xp, fp, left=None, right=None, period=None):
    xs, ys = np._as(xp).tolist(), np._as(fp).tolist()
    if len(xs) != len(ys):
        raise ValueError("fp and xp are not of the same length.")
    if not xs:
        raise ValueError("array of sample points is empty")
    if period is not None:
        # Once around, with its ends on both sides.
        period, x = abs(period), np.remainder(x, abs(period))
        pairs = sorted([(a % period, b) for a, b in zip(xs, ys)])
        xs, ys = [a for a, _ in pairs], [b for _, b in pairs]
        xs, ys = [xs[-1] - period] + xs + [xs[0] + period], [ys[-1]] + ys + [ys[0]]
    low, high = ys[0] if left is None else left, ys[-1] if right is None else right

    def one(v):
        if v < xs[0]:
            return low
        if v > xs[-1]:
            return high
        at = bisect.bisect_right(xs, v) - 1
        if v != v or at >= len(xs) - 1:
            return v if v != v else ys[-1]
        return ys[at] + (ys[at + 1] - ys[at]) * (v - xs[at]) / (xs[at + 1] - xs[at])
    x = np._as(x)
    made = np.array([float(one(v)) for v in x.reshape(-1).tolist()], "float64").reshape(x.shape)
    return made if x.ndim else made[()]


def gradient(f, *varargs, axis=None, edge_order=1):
    f = np._as(f)
    f = f if f.dtype.kind == "f" else f.astype("float64")
    axes = range(f.ndim) if axis is None else [np._axis_of(d, f.ndim) for d in (axis if isinstance(axis, (tuple, list)) else [axis])]
    steps = list(varargs) * (len(axes) if len(varargs) == 1 else 1) or [1.0] * len(axes)
    if len(steps) != len(axes):
        raise TypeError("invalid number of arguments")
    if edge_order not in (1, 2):
        raise ValueError("'edge_order' greater than 2 not supported")
    made = [_slopes(f, step, d, edge_order) for d, step in zip(axes, steps)]
    return made[0] if len(made) == 1 else tuple(made)


def _slopes(f, step, axis, edge_order):
    f = np.moveaxis(f, axis, 0)
    n = f.shape[0]
    if n < edge_order + 1:
        raise ValueError("Shape of array too small to calculate a numerical gradient, at least (edge_order + 1) elements are required.")
    if np.ndim(step) and np._as(step).shape[0] != n:
        raise ValueError("when 1d, distances must match the length of the corresponding dimension")
    h = np.diff(step) if np.ndim(step) else np.full(n - 1, step)
    even = bool(np.all(h == h[0]))
    h = h.reshape((-1,) + (1,) * (f.ndim - 1))
    left, right = h[:-1], h[1:]
    inner = (f[2:] - f[:-2]) / (2.0 * left) if even else (
        -right / (left * (left + right)) * f[:-2] + (right - left) / (left * right) * f[1:-1] + left / (right * (left + right)) * f[2:])
    if edge_order == 1:
        first, last = (f[1:2] - f[:1]) / h[:1], (f[-1:] - f[-2:-1]) / h[-1:]
    else:
        a, b = h[:1], h[1:2]
        first = -(2.0 * a + b) / (a * (a + b)) * f[:1] + (a + b) / (a * b) * f[1:2] - a / (b * (a + b)) * f[2:3]
        a, b = h[-2:-1], h[-1:]
        last = b / (a * (a + b)) * f[-3:-2] - (b + a) / (a * b) * f[-2:-1] + (2.0 * b + a) / (b * (a + b)) * f[-1:]
    return np.moveaxis(np.concatenate([first, inner, last]), 0, axis)


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
    return convolve(a, conj(np._as(v))[::-1], mode)


def cov(m, y=None, rowvar=True, bias=False, ddof=None, fweights=None, aweights=None):
    m = np._as(m).astype("float64")
    m = m.reshape(1, -1) if m.ndim == 1 else m if rowvar else m.T
    if y is not None:
        y = np._as(y)
        m = np.concatenate([m, y.reshape(1, -1) if y.ndim == 1 else y if rowvar else y.T])
    ddof = (0 if bias else 1) if ddof is None else ddof
    if fweights is None and aweights is None:
        apart, total = m - m.mean(1, keepdims=True), m.shape[1] - ddof
        weighted = apart
    else:
        counts = np.ones(m.shape[1]) if fweights is None else np._as(fweights)
        w = counts * (1.0 if aweights is None else np._as(aweights))
        apart = m - (m * w).sum(1, keepdims=True) / w.sum()
        weighted = apart * w
        total = w.sum() - ddof * ((w * (w / counts)).sum() / w.sum() if aweights is not None else 1)
    made = apart @ weighted.T / total
    return np.array(made[0, 0]) if made.shape == (1, 1) else made


def corrcoef(x, y=None, rowvar=True):
    made = np._as(cov(x, y, rowvar))
    if made.ndim == 0:
        return 1.0
    d = np.sqrt(np.diag(made))
    return np.clip(made / d[:, None] / d[None, :], -1, 1)


def logaddexp(x1, x2):
    same = np.equal(x1, x2)
    apart = np.where(same, 0.0, np.absolute(np.subtract(x1, np.where(same, 0.0, x2))))
    return np._scalar(np.maximum(x1, x2) + np.log1p(np.exp(-apart)))


def _without(a, axis, fill):
    a = np._as(a)
    if a.dtype.kind in "biu":
        return a, np.sum(np.ones(a.shape, int), axis)
    return np.where(np.isnan(a), fill, a), np.sum(np.logical_not(np.isnan(a)), axis)


def nansum(a, axis=None, dtype=None, out=None, keepdims=False, **others):
    return np.sum(_without(a, axis, 0.0)[0], axis, dtype, out, keepdims, **others)


def nanprod(a, axis=None, dtype=None, out=None, keepdims=False, **others):
    return np.prod(_without(a, axis, 1.0)[0], axis, dtype, out, keepdims, **others)


def nancumsum(a, axis=None):
    return np.cumsum(_without(a, axis, 0.0)[0], axis)


def _numbers(a, where):
    there = np.logical_not(np.isnan(a))
    return there if where is True else np.logical_and(there, where)


def nanmean(a, axis=None, dtype=None, out=None, keepdims=False, where=True):
    a = np._as(a)
    return np.mean(a, axis, dtype, out, keepdims, where=_numbers(a, where))


def nanvar(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False, where=True):
    a = np._as(a)
    return np.var(a, axis, dtype, out, ddof, keepdims, where=_numbers(a, where))


def nanstd(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False, where=True):
    a = np._as(a)
    return np.std(a, axis, dtype, out, ddof, keepdims, where=_numbers(a, where))


def _nan_extreme(reduction, fill):
    def function(a, axis=None, out=None, keepdims=False, **others):
        values, count = _without(a, axis, fill)
        made = reduction(values, axis, None, keepdims, **others)
        empty = np.equal(count, 0)
        if np.any(empty):
            warnings.warn("All-NaN slice encountered", RuntimeWarning, stacklevel=2)
            made = np.where(np.reshape(empty, np.shape(made)), np.nan, made)
        return np._given(made, out, None)
    return function


nanmax, nanmin = _nan_extreme(np.max, -math.inf), _nan_extreme(np.min, math.inf)


def nanargmax(a, axis=None):
    return np.argmax(_without(a, axis, -math.inf)[0], axis)


def nanargmin(a, axis=None):
    return np.argmin(_without(a, axis, math.inf)[0], axis)


def nanpercentile(a, q, axis=None, out=None, overwrite_input=False, method="linear", keepdims=False, **others):
    a, others = np._as(a), {"method": method, **others}
    if out is not None or keepdims:
        made = np._as(nanpercentile(a, q, axis, **others))
        if keepdims:
            kept = [1 if axis is None or d == axis % a.ndim else n for d, n in enumerate(a.shape)]
            made = np.reshape(made, list(np.shape(q)) + kept)
        return np._given(made, out, None)
    there = lambda v: v[np.logical_not(np.isnan(v))]
    one = lambda v: np.percentile(there(v), q, **others) if there(v).size else np.multiply(q, np.nan)
    if axis is None:
        return one(a.reshape(-1))
    return np.moveaxis(apply_along_axis(one, axis, a), axis, 0) if np.ndim(q) else apply_along_axis(one, axis, a)


def nanmedian(a, axis=None, out=None, overwrite_input=False, keepdims=False):
    return nanpercentile(a, 50, axis, out, keepdims=keepdims)


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
    return np.split(ary, indices_or_sections, 1 if np.ndim(ary) > 1 else 0)


def vsplit(ary, indices_or_sections):
    return np.split(ary, indices_or_sections, 0)


def dsplit(ary, indices_or_sections):
    return np.split(ary, indices_or_sections, 2)


def fliplr(m):
    return np.flip(m, 1)


def flipud(m):
    return np.flip(m, 0)


def rot90(m, k=1, axes=(0, 1)):
    for _ in range(k % 4):
        m = np.flip(np.swapaxes(m, axes[0], axes[1]), axes[0])
    return m


def apply_along_axis(func1d, axis, arr, *args, **kwargs):
    arr = np._as(arr)
    axis = np._axis_of(axis, arr.ndim)
    arr = np.moveaxis(arr, axis, -1)
    made = np.stack([np._as(func1d(row, *args, **kwargs)) for row in arr.reshape(-1, arr.shape[-1])])
    inner, outer = made.ndim - 1, arr.ndim - 1
    made = made.reshape(arr.shape[:-1] + made.shape[1:])
    return np.moveaxis(made, list(range(outer, outer + inner)), list(range(axis, axis + inner))) if inner else made


def trapezoid(y, x=None, dx=1.0, axis=-1):
    y = np.moveaxis(np._as(y), axis, -1)
    width = dx if x is None else np.diff(np._as(x) if np.ndim(x) < 2 else np.moveaxis(np._as(x), axis, -1))
    return (width * (y[..., 1:] + y[..., :-1]) / 2.0).sum(-1)


trapz = trapezoid


def deg2rad(x, out=None, **others):
    return np.multiply(x, math.pi / 180, out, **others)


def rad2deg(x, out=None, **others):
    return np.multiply(x, 180 / math.pi, out, **others)


radians, degrees = deg2rad, rad2deg


def sinc(x):
    y = np.where(np.equal(x, 0), 1e-20, x) * math.pi
    return np._scalar(np.sin(y) / y)


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
    x = np._as(x1)
    return np._scalar(np.where(np.isnan(x), x, np.where(np.equal(x, 0), x2, np.where(np.greater(x, 0), 1.0, 0.0))))


class vectorize:
    def __init__(self, pyfunc=None, otypes=None, doc=None, excluded=None, cache=False, signature=None):
        self.pyfunc, self.otypes, self.excluded, self.signature = pyfunc, otypes, set(excluded or ()), signature
        self.__name__, self.__doc__ = getattr(pyfunc, "__name__", "vectorize"), doc or getattr(pyfunc, "__doc__", None)

    def __call__(self, *args, **kwargs):
        if self.pyfunc is None:
            # As a decorator with options.
            self.pyfunc = args[0]
            return self
        if self.signature is not None:
            return self._by_signature(args)
        keys = [k for k in range(len(args)) if k not in self.excluded] + [k for k in kwargs if k not in self.excluded]
        arrays = broadcast_arrays(*[args[k] if isinstance(k, int) else kwargs[k] for k in keys])
        if not arrays[0].size and self.otypes is None:
            raise ValueError("cannot call `vectorize` on size 0 inputs unless `otypes` is set")

        def one(values):
            given = dict(zip(keys, values))
            return self.pyfunc(*[given.get(i, a) for i, a in enumerate(args)], **{k: given.get(k, v) for k, v in kwargs.items()})
        made = [one(values) for values in zip(*[a.reshape(-1).tolist() for a in arrays])]
        kinds = [None] if self.otypes is None else list(self.otypes)
        # More results than one are arrays of their own.
        several = bool(made) and isinstance(made[0], tuple) and (self.otypes is None or len(kinds) > 1)
        columns = list(zip(*made)) if several else [made]
        kinds = kinds * len(columns) if len(kinds) < len(columns) else kinds
        out = [np.array(list(c), {"O": object}.get(k, k)) for c, k in zip(columns, kinds)]
        out = [o.reshape(arrays[0].shape) for o in out]
        return tuple(out) if several else out[0]

    def _by_signature(self, args):
        ranks = [len([n for n in part.split(",") if n.strip(" ()")]) for part in self.signature.split("->")[0].replace(" ", "").strip("()").split("),(")]
        arrays = [np._as(a) for a in args]
        loops = broadcast_shapes(*[a.shape[:a.ndim - r] for a, r in zip(arrays, ranks)])
        rows = [np.broadcast_to(a, loops + a.shape[a.ndim - r:]).reshape((-1,) + a.shape[a.ndim - r:]) for a, r in zip(arrays, ranks)]
        made = [self.pyfunc(*parts) for parts in zip(*rows)]
        back = lambda items: np.stack([np._as(m) for m in items]).reshape(loops + np.shape(items[0]))
        return tuple([back(list(c)) for c in zip(*made)]) if made and isinstance(made[0], tuple) else back(made)


def array_equiv(a1, a2):
    try:
        return builtins.bool(np._as(np.equal(a1, a2)).all())
    except ValueError:
        return False


def geomspace(start, stop, num=50, endpoint=True, dtype=None, axis=0):
    if np.ndim(start) or np.ndim(stop):
        start, stop = broadcast_arrays(start, stop)
        made = np.stack([np._as(geomspace(*ends, num, endpoint)) for ends in zip(start.reshape(-1).tolist(), stop.reshape(-1).tolist())], -1)
        made = np.moveaxis(made.reshape((num,) + start.shape), 0, axis)
        return made if dtype is None else made.astype(dtype)
    made = np.sign(start) * np.power(10.0, np.linspace(math.log10(abs(start)), math.log10(abs(stop)), num, endpoint))
    if num:
        made[0] = start
    if num > 1 and endpoint:
        made[-1] = stop
    return made if dtype is None else made.astype(dtype)


def extract(condition, arr):
    return np._as(arr).reshape(-1)[np._as(condition).reshape(-1).astype("bool")]


def compress(condition, a, axis=None, out=None):
    a, places = np._as(a), np._as(condition).astype("bool").nonzero()[0]
    return np._given(np.take(a.reshape(-1) if axis is None else a, places, 0 if axis is None else axis), out, None)


def select(condlist, choicelist, default=0):
    if len(condlist) != len(choicelist):
        raise ValueError("list of cases must be same length as list of conditions")
    made = default
    for condition, choice in reversed(list(zip(condlist, choicelist))):
        made = np.where(condition, choice, made)
    return made


def copyto(dst, src, casting="same_kind", where=True):
    dst[...] = src if where is True else np.where(where, src, dst)


def broadcast_shapes(*shapes):
    import torch
    return tuple(torch.broadcast_shapes(*shapes))


def broadcast_arrays(*args):
    arrays = [np._as(a) for a in args]
    if arrays and all([a.shape == arrays[0].shape for a in arrays]):
        return tuple(arrays)
    shape = broadcast_shapes(*[a.shape for a in arrays])
    return tuple([np.broadcast_to(a, shape) for a in arrays])


def positive(x):
    return x


def fmod(x1, x2):
    with np.errstate(divide="ignore", invalid="ignore"):
        made = x1 - np.trunc(np.divide(x1, x2)) * x2
    kind = result_type(np._as(x1), np._as(x2))
    return np._scalar(np._as(made).astype(kind) if kind.kind in "iu" else made)


def _but_nan(name):
    def function(x1, x2):
        return np._scalar(np.where(np.isnan(x1), x2, np.where(np.isnan(x2), x1, getattr(np, name)(x1, x2))))
    return function


fmax, fmin = _but_nan("maximum"), _but_nan("minimum")


def fix(x):
    return np.trunc(x)


def divmod(x1, x2):
    a, b = np._operand(x1), np._operand(x2)
    quotient = np._scalar(_by_zero.divided("divmod", a, b, _numpy.binary("floor_divide", a, b)))
    with _by_zero.errstate(divide="ignore", invalid="ignore"):
        return quotient, np.remainder(a, b)


def modf(x):
    whole = np.trunc(x)
    return x - whole, whole


def copysign(x1, x2):
    size = np.absolute(np.multiply(x1, 1.0))
    return np._scalar(np.where(signbit(x2), -size, size))


def signbit(x):
    # The sign of zero shows in what one is divided by it.
    x = np._as(x)
    with np.errstate(divide="ignore"):
        return np._scalar(np.less(x, 0) | (np.equal(x, 0) & np.less(np.divide(1.0, x), 0)))


def _whole(made):
    return np._scalar(made)


def promote_types(type1, type2):
    return np.result_type(type1, type2)


def gcd(x1, x2):
    return _whole(vectorize(math.gcd)(x1, x2))


def lcm(x1, x2):
    return _whole(vectorize(math.lcm)(x1, x2))


def isneginf(x):
    return np.equal(x, -math.inf)


def isposinf(x):
    return np.equal(x, math.inf)


def ediff1d(ary, to_end=None, to_begin=None):
    made = np.diff(np._as(ary).reshape(-1))
    return np.concatenate([np._as(v).reshape(-1).astype(made.dtype) for v in (to_begin, made, to_end) if v is not None])


def resize(a, new_shape):
    a, n = np._as(a).reshape(-1), math.prod([new_shape] if isinstance(new_shape, int) else new_shape)
    if not a.size:
        return np.zeros(new_shape, a.dtype)
    return np.tile(a, -(-n // a.size))[:n].reshape(new_shape)


def iterable(y):
    return hasattr(y, "__iter__")


def trim_zeros(filt, trim="fb"):
    values = list(filt)
    while "f" in trim and values and values[0] == 0:
        values.pop(0)
    while "b" in trim and values and values[-1] == 0:
        values.pop()
    return values if isinstance(filt, list) else tuple(values) if isinstance(filt, tuple) else np.array(values, filt.dtype)


def block(arrays):
    if isinstance(arrays, list) and arrays and isinstance(arrays[0], list):
        return np.concatenate([block(row) for row in arrays], 0)
    return np.concatenate([np._as(a) for a in arrays], -1) if isinstance(arrays, list) else np._as(arrays)


def array2string(a, max_line_width=None, precision=None, suppress_small=None, separator=" ", prefix="", *, formatter=None, threshold=None,
                 edgeitems=None, sign=None, floatmode=None, suffix="", legacy=None):
    from numpy import _print
    with printoptions(precision=precision, suppress=suppress_small, linewidth=max_line_width, formatter=formatter, threshold=threshold,
                      edgeitems=edgeitems, sign=sign, floatmode=floatmode):
        if not a.ndim:
            write = _print.chosen(a.dtype) if not hasattr(a, "_formatter") else None
            return write(a.item()) if write else _print._scalar(a)
        return _print._text(a, separator, " " * len(prefix))


class printoptions:
    def __init__(self, **settings):
        self._settings = settings

    def __enter__(self):
        from numpy import _print
        self._before = dict(_print._options)
        np.set_printoptions(**self._settings)
        return get_printoptions()

    def __exit__(self, *exc):
        from numpy import _print
        _print._options.update(self._before)
        return False


def get_printoptions():
    from numpy import _print
    return {**dict.fromkeys("precision threshold edgeitems linewidth suppress nanstr infstr formatter sign floatmode legacy override_repr".split()),
            "nanstr": "nan", "infstr": "inf", "legacy": False, **_print._options}


def require(a, dtype=None, requirements=None):
    return np.asarray(a, dtype)


def invert(x):
    x = np._as(x)
    return np.logical_not(x) if x.dtype.name == "bool" else np.bitwise_xor(x, -1)


bitwise_not = invert
intc, uintp, longlong, byte, short, ubyte, ushort = np.int32, np.uint32, np.int64, np.int8, np.int16, np.uint8, np.uint16
True_, False_ = True, False


def conj(x):
    return np._as(x).conj() if not isinstance(x, complex) else x.conjugate()


conjugate = conj


def real(val):
    return val.real if hasattr(val, "real") else np._as(val).real


def imag(val):
    return val.imag if hasattr(val, "imag") else np._as(val).imag


def isreal(x):
    return np.equal(imag(x), 0)


def iscomplex(x):
    return np.not_equal(imag(x), 0)


def iscomplexobj(x):
    return isinstance(x, complex) or getattr(np._as(x), "dtype", np.float64).kind == "c"


def isrealobj(x):
    return not iscomplexobj(x)


def angle(z, deg=False):
    made = np.arctan2(imag(z), real(z))
    return np.multiply(made, 180 / math.pi) if deg else made


def astype(x, dtype, /, *, copy=True, device=None):
    return x.astype(dtype, copy=copy)


concat, pow, permute_dims, cumulative_sum = np.concatenate, np.power, np.transpose, np.cumsum
acos, asin, atan, atan2 = np.arccos, np.arcsin, np.arctan, np.arctan2


def rollaxis(a, axis, start=0):
    axis = np._axis_of(axis, a.ndim)
    return np.moveaxis(a, axis, start - 1 if axis < start else start)


def nextafter(x1, x2):
    a, b = broadcast_arrays(np._as(x1), np._as(x2))
    made = np.array([math.nextafter(x, y) for x, y in zip(a.reshape(-1).tolist(), b.reshape(-1).tolist())]).reshape(a.shape)
    return np._scalar(made)


def array_split(ary, sections, axis=0):
    if not isinstance(sections, builtins.int):
        return np.split(ary, sections, axis)
    ary = np._as(ary)
    size, more = builtins.divmod(ary.shape[axis], sections)
    ends = [i * size + builtins.min(i, more) for i in range(1, sections)]
    return np.split(ary, ends, axis)


def roll(a, shift, axis=None):
    a = np._as(a)
    if axis is None:
        return roll(a.reshape(-1), np.sum(shift), 0).reshape(a.shape)
    for n, d in np.broadcast(shift, axis):
        d = np._axis_of(int(d), a.ndim)
        a = np.take(a, (np.arange(a.shape[d]) - int(n)) % builtins.max(a.shape[d], 1), d)
    return a


def nan_to_num(x, copy=True, nan=0.0, posinf=None, neginf=None):
    x = np._as(x)
    if x.dtype.kind == "c":
        return nan_to_num(x.real, copy, nan, posinf, neginf) + 1j * nan_to_num(x.imag, copy, nan, posinf, neginf)
    most = float(np.finfo(x.dtype).max) if x.dtype.kind == "f" else 0.0
    x = np.where(np.isnan(x), nan, x)
    x = np.where(np.equal(x, np.inf), most if posinf is None else posinf, x)
    return np._scalar(np.where(np.equal(x, -np.inf), -most if neginf is None else neginf, x))


__all__ = [name for name in __all__ if name in globals()]
