"""Functions of NumPy that are made of others."""

import _numpy
from _numpy import ndarray
from numpy import _by_zero
import builtins
import math
import numpy as np
import warnings

__all__ = """result_type vander polyfit polyval poly1d interp gradient convolve correlate cov corrcoef logaddexp nanmean nansum nanmax nanmin nanstd nanvar
atleast_1d atleast_2d atleast_3d dstack hsplit vsplit fliplr flipud rot90 meshgrid_ apply_along_axis trapezoid trapz deg2rad rad2deg
degrees radians sinc arcsinh arccosh arctanh cbrt exp2 heaviside vectorize array_equiv geomspace extract select piecewise copyto
broadcast_arrays broadcast_shapes positive fmod divmod modf nancumsum nan_to_num ediff1d resize rollaxis iterable hanning hamming
blackman block array2string printoptions get_printoptions require invert bitwise_not intc uintp longlong uint64 int_ byte short
ubyte ushort inexact signedinteger unsignedinteger floating_ True_ False_ cumulative_sum conj real imag isreal iscomplexobj
isrealobj nanmedian nanargmax nanargmin nanprod nanpercentile choose compress concat pow permute_dims astype unwrap isneginf
isposinf copysign signbit gcd lcm acos asin atan atan2 trim_zeros nextafter array_split roll promote_types fmax fmin poly roots polyder polyint fix""".split()


def vander(x, N=None, increasing=False):
    x = np._as(x)
    N = len(x) if N is None else N
    return np.stack([x ** (i if increasing else N - 1 - i) for i in range(N)], 1)


def polyfit(x, y, deg):
    x, y = np._as(x).astype("float64"), np._as(y).astype("float64")
    if x.shape[0] != y.shape[0]:
        raise TypeError("expected x and y to have same length")
    columns = vander(x, deg + 1)
    scale = np.sqrt(np.square(columns).sum(0))
    made = np.linalg.lstsq(columns / scale, y)[0]
    return (made.T / scale).T


def result_type(*kinds):
    """What kinds and arrays are promoted to."""
    made = 0
    for kind in kinds:
        made = np.zeros((), kind.dtype if hasattr(kind, "dtype") else kind) + made
    return made.dtype


def polyval(p, x):
    made = np.multiply(x, 0)
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


def alike(arrays):
    arrays = [np._as(a) for a in arrays]
    if arrays and [a for a in arrays if a.shape != arrays[0].shape]:
        raise ValueError("all input arrays must have the same shape")
    return arrays


def average(a, axis, weights):
    if weights.shape != a.shape:
        if axis is None:
            raise TypeError("Axis must be specified when shapes of a and weights differ.")
        if weights.ndim != 1 or weights.size != a.shape[axis]:
            raise ValueError("Shape of weights must be consistent with shape of a along specified axis.")
        sizes = [1] * a.ndim
        sizes[axis] = -1
        weights = weights.reshape(sizes)
        return np.sum(np.multiply(a, weights), axis) / np.sum(weights)
    return np.sum(np.multiply(a, weights), axis) / np.sum(weights, axis)


def interp(x, xp, fp, left=None, right=None):
    xs, ys = np._as(xp).tolist(), np._as(fp).tolist()
    if len(xs) != len(ys):
        raise ValueError("fp and xp are not of the same length.")
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
    apart = np.where(np.equal(x1, x2), 0.0, np.absolute(np.subtract(x1, np.where(np.equal(x1, x2), 0.0, x2))))
    return np.maximum(x1, x2) + np.log1p(np.exp(-apart))


def _without(a, axis, fill):
    a = np._as(a)
    return np.where(np.isnan(a), fill, a), np.logical_not(np.isnan(a)).sum(axis)


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


def apply_along_axis(func1d, axis, arr, *args, **kwargs):
    arr = np._as(arr)
    axis = np._axis_of(axis, arr.ndim)
    arr = np.moveaxis(arr, axis, -1)
    made = [func1d(row, *args, **kwargs) for row in arr.reshape(-1, arr.shape[-1])]
    made = np.array([m.tolist() if isinstance(m, ndarray) else m for m in made])
    made = made.reshape(arr.shape[:-1] + made.shape[1:])
    return np.moveaxis(made, -1, axis) if made.ndim == arr.ndim else made


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
    made = x1 - np.trunc(np.divide(x1, x2)) * x2
    kind = result_type(np._as(x1), np._as(x2))
    return made.astype(kind) if kind.kind in "iu" else made


def _but_nan(name):
    def function(x1, x2):
        return np.where(np.isnan(x1), x2, np.where(np.isnan(x2), x1, getattr(np, name)(x1, x2)))
    return function


fmax, fmin = _but_nan("maximum"), _but_nan("minimum")


def poly(seq):
    """The coefficients of the polynomial with these roots."""
    made = np.array([1.0])
    for root in np._as(seq).reshape(-1).tolist():
        made = np.convolve(made, np.array([1, -root]))
    return made


def roots(p):
    p = np.trim_zeros(np._as(p), "f").astype("float64")
    inner = np.trim_zeros(p, "b")
    zeros, n = len(p) - len(inner), len(inner) - 1
    if n < 1:
        return np.zeros(builtins.max(zeros, 0))
    companion = np.eye(n, k=-1)
    companion[0] = -inner[1:] / inner[0]
    found = np.linalg.eigvals(companion)
    return np.concatenate([found, np.zeros(zeros)]) if zeros else found


def polyder(p, m=1):
    p = np._as(p)
    for _ in range(m):
        p = p[:-1] * np.arange(len(p) - 1, 0, -1)
    return p


def polyint(p, m=1, k=0):
    p = np._as(p)
    for _ in range(m):
        p = np.append(p / np.arange(len(p), 0, -1), k)
    return p


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
    return np.where(signbit(x2), -np.absolute(x1), np.absolute(x1))


def signbit(x):
    # The sign of zero shows in what one is divided by it.
    x = np._as(x)
    with np.errstate(divide="ignore"):
        return np.less(x, 0) | (np.equal(x, 0) & np.less(np.divide(1.0, x), 0))


def _whole(made):
    return made if made.ndim else np.int64(made.tolist())


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


def trim_zeros(filt, trim="fb"):
    values = list(filt)
    while "f" in trim and values and values[0] == 0:
        values.pop(0)
    while "b" in trim and values and values[-1] == 0:
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


def array2string(a, max_line_width=None, precision=None, suppress_small=None, separator=" ", **others):
    from numpy import _print
    with printoptions(precision=precision, suppress=suppress_small, linewidth=max_line_width, **others):
        return _print._scalar(a) if a.ndim == 0 else _print._text(a, separator, "")


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


def rollaxis(a, axis, start=0):
    axis = np._axis_of(axis, a.ndim)
    return np.moveaxis(a, axis, start - 1 if axis < start else start)


def nextafter(x1, x2):
    a, b = broadcast_arrays(np._as(x1), np._as(x2))
    made = np.array([math.nextafter(x, y) for x, y in zip(a.reshape(-1).tolist(), b.reshape(-1).tolist())]).reshape(a.shape)
    return np._scalar(made) if not made.shape else made


def array_split(ary, sections, axis=0):
    if not isinstance(sections, builtins.int):
        return np.split(ary, sections, axis)
    ary = np._as(ary)
    size, more = builtins.divmod(ary.shape[axis], sections)
    ends = [i * size + builtins.min(i, more) for i in range(1, sections)]
    return np.split(ary, ends, axis)


def roll(a, shift, axis=None):
    a = np._as(a)
    flat = a.reshape(-1) if axis is None else a
    axis = 0 if axis is None else np._axis_of(axis, a.ndim)
    n = flat.shape[axis]
    return np.take(flat, (np.arange(n) - shift) % n, axis).reshape(a.shape)


def nan_to_num(x, copy=True, nan=0.0, posinf=None, neginf=None):
    x = np._as(x)
    most = float(np.finfo(x.dtype).max) if x.dtype.kind == "f" else 0.0
    x = np.where(np.isnan(x), nan, x)
    x = np.where(np.equal(x, np.inf), most if posinf is None else posinf, x)
    return np.where(np.equal(x, -np.inf), -most if neginf is None else neginf, x)


__all__ = [name for name in __all__ if name in globals()]
