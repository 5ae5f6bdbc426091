"""Functions of NumPy that few scripts ask for."""

import _numpy
import builtins
import math
import numpy as np
import struct
from collections import namedtuple


def _each(function, *args):
    """A function of numbers, for arrays too."""
    arrays = np.broadcast_arrays(*args)
    made = np.array([function(*v) for v in zip(*[a.reshape(-1).tolist() for a in arrays])], "float64").reshape(arrays[0].shape)
    return np._scalar(made)


def _bits(a, axis, order):
    if order not in ("big", "little"):
        raise ValueError("'order' must be either 'little' or 'big'")
    a = np._as(a)
    return (a.reshape(-1), 0) if axis is None else (np.moveaxis(a, axis, -1), axis)


def packbits(a, /, axis=None, bitorder="big"):
    a, axis = _bits(a, axis, bitorder)
    if a.dtype.kind not in "biu":
        raise TypeError("Expected an input array of integer or boolean data type")
    n = a.shape[-1]
    a = np.not_equal(a, 0).astype("int64")
    a = np.concatenate([a, np.zeros(a.shape[:-1] + (-n % 8,), "int64")], -1).reshape(a.shape[:-1] + (-1, 8))
    weights = 2 ** np.arange(8)
    made = (a * (weights[::-1] if bitorder == "big" else weights)).sum(-1).astype("uint8")
    return np.moveaxis(made, -1, axis)


def unpackbits(a, /, axis=None, count=None, bitorder="big"):
    if np._as(a).dtype.name != "uint8":
        raise TypeError("Expected an input array of unsigned byte data type")
    a, axis = _bits(a, axis, bitorder)
    places = np.arange(8)[::-1] if bitorder == "big" else np.arange(8)
    made = np.right_shift(a[..., None].astype("int64"), places) % 2
    made = made.reshape(a.shape[:-1] + (-1,)).astype("uint8")
    if count is not None:
        missing = builtins.max(count - made.shape[-1], 0)
        made = np.concatenate([made, np.zeros(made.shape[:-1] + (missing,), "uint8")], -1)[..., :count if count >= 0 else made.shape[-1] + count]
    return np.moveaxis(made, -1, axis)


def bitwise_count(x):
    return np._scalar(np._as(_each(lambda v: abs(int(v)).bit_count(), x)).astype("uint8"))


def put(a, ind, v, mode="raise"):
    ind = np._as(ind).reshape(-1)
    if mode != "raise":
        ind = np.clip(ind, 0, a.size - 1) if mode == "clip" else ind % a.size
    if ind.size:
        a.flat[ind] = v


def place(arr, mask, vals):
    there = np._as(mask).astype("bool").reshape(-1).nonzero()[0]
    if there.size and not np.size(vals):
        raise ValueError("Cannot insert from an empty array!")
    put(arr, there, vals)


def putmask(a, mask, values):
    there = np._as(mask).astype("bool").reshape(-1)
    put(a, there.nonzero()[0], np.resize(values, a.size)[there])


def asfortranarray(a, dtype=None):
    a = np.asarray(a, dtype)
    return a.T.copy().T if a.ndim > 1 else a


def isfortran(a):
    return a.flags.f_contiguous and not a.flags.c_contiguous


def asarray_chkfinite(a, dtype=None, order=None):
    a = np.asarray(a, dtype)
    if a.dtype.kind == "f" and not np.isfinite(a).all():
        raise ValueError("array must not contain infs or NaNs")
    return a


def apply_over_axes(func, a, axes):
    made = np._as(a)
    for axis in [axes] if isinstance(axes, int) else axes:
        axis = np._axis_of(axis, made.ndim)
        next = np._as(func(made, axis))
        made = next if next.ndim == made.ndim else np.expand_dims(next, axis)
    return made


def frexp(x):
    return _each(lambda v: math.frexp(v)[0], x), np._scalar(np._as(_each(lambda v: math.frexp(v)[1], x)).astype("int32"))


def ldexp(x1, x2):
    return _each(lambda v, n: math.ldexp(v, int(n)), x1, x2)


def logaddexp2(x1, x2):
    two = math.log(2)
    return np.logaddexp(np.multiply(x1, two), np.multiply(x2, two)) / two


def spacing(x):
    return _each(lambda v: math.copysign(math.ulp(v), v), x)


def i0(x):
    """The modified Bessel function of order zero, by its series, or far out by that of its inverse."""
    def one(v):
        v = abs(v)
        if v > 30:
            term, total = 1.0, 1.0
            for k in range(1, 30):
                term *= (2 * k - 1) ** 2 / (8 * k * v)
                total += term
            return math.exp(v) * total / math.sqrt(2 * math.pi * v)
        term, total, k = 1.0, 1.0, 1
        while term > total * 1e-17:
            term *= v * v / (4 * k * k)
            total, k = total + term, k + 1
        return total
    return np._as(_each(one, x))


def kaiser(M, beta):
    if M == 1:
        return np.ones(1)
    half = (M - 1) / 2.0
    return i0(beta * np.sqrt(1 - ((np.arange(M) - half) / half) ** 2.0)) / float(i0(beta))


def bartlett(M):
    n = np.arange(1 - M, M, 2)
    return np.ones(1) if M == 1 else np.where(n <= 0, 1 + n / (M - 1), 1 - n / (M - 1))


def binary_repr(num, width=None):
    num = int(num)
    text = bin(num).lstrip("-0b") or "0"
    if num >= 0:
        if width is not None and len(text) > width:
            raise ValueError(f"Insufficient bit width={width} provided for binwidth={len(text)}")
        return text.zfill(width or 1)
    if width is None:
        return "-" + text
    if -num > 1 << width - 1:
        raise ValueError(f"Insufficient bit width={width} provided for binwidth={len(text) + 1}")
    return bin((1 << width) + num)[2:]


def base_repr(number, base=2, padding=0):
    if not 2 <= base <= 36:
        raise ValueError("Bases greater than 36 not handled in base_repr." if base > 36 else "Bases less than 2 not handled in base_repr.")
    left, text = abs(int(number)), ""
    while left:
        text, left = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"[left % base] + text, left // base
    return ("-" if number < 0 else "") + "0" * padding + (text or ("" if padding else "0"))


_SAFE_BITS = {"float16": 11, "float32": 24, "float64": 53}


def can_cast(from_, to, casting="safe"):
    if isinstance(from_, (int, float)):
        raise TypeError("can_cast() does not support Python ints, floats, and complex because the result used to depend on the value.")
    a, b = np.dtype(getattr(from_, "dtype", from_)), np.dtype(to)
    if casting == "unsafe" or a == b:
        return True
    if casting in ("no", "equiv"):
        return False
    if casting == "same_kind":
        order = "buifc"
        return a.kind in order and b.kind in order and (order.index(a.kind) <= order.index(b.kind) or {a.kind, b.kind} == {"i", "u"} and
                                                        b.kind == "i")
    if a.kind in "USOmM" or b.kind in "USOmM":
        return b.kind == "O" or a.kind == b.kind and a.itemsize <= b.itemsize or a.kind in "biuf" and b.kind == "U"
    return b.kind == "c" or np.promote_types(a, b) == b


def common_type(*arrays):
    kinds = [a.dtype for a in arrays]
    if any([k.kind in "biuOUSmM" and k.kind not in "iu" for k in kinds]):
        raise TypeError("can't get common type for non-numeric array")
    return np.result_type(*[np.float64 if k.kind in "iu" else k for k in kinds]).type


def min_scalar_type(a):
    a = np._as(a)
    if a.ndim or a.dtype.kind not in "iuf":
        return a.dtype
    value = a.item()
    if a.dtype.kind == "f":
        return next((np.dtype(k) for k, most in (("float16", 65504), ("float32", 3.5e38)) if not math.isfinite(value) or abs(value) <= most),
                    np.dtype("float64"))
    bits = next((n for n in (8, 16, 32) if (value < 1 << n if value >= 0 else value >= -(1 << n - 1))), 64)
    return np.dtype(("uint" if value >= 0 and bits < 64 else "int") + str(bits))


_NAMES = {"?": "bool", "b": "signed char", "B": "unsigned char", "h": "short", "H": "unsigned short", "i": "integer", "I": "unsigned integer",
          "l": "long integer", "f": "single precision", "d": "double precision", "F": "complex single precision",
          "D": "complex double precision", "O": "object", "S": "string", "U": "unicode"}


def typename(char):
    return _NAMES[char]


def mintypecode(typechars, typeset="GDFgdf", default="d"):
    given = {t if isinstance(t, str) else np._as(t).dtype.char for t in typechars}
    found = [t for t in "GgDdFf" if t in given and t in typeset]
    return default if not found else "D" if "F" in found and "d" in found else found[0]


def fromstring(string, dtype=float, count=-1, *, sep=""):
    if not sep:
        raise ValueError("The binary mode of fromstring is removed, use frombuffer instead")
    parts = [p for p in (string.split() if not sep.strip() else string.split(sep.strip())) if p.strip()]
    return np.array([p.strip() for p in (parts if count < 0 else parts[:count])], dtype) if parts else np.zeros(0, dtype)


def fromfile(file, dtype=float, count=-1, sep="", offset=0):
    from numpy._files import _bytes
    data = _bytes(file)
    return fromstring(data.decode("latin-1"), dtype, count, sep=sep) if sep else np.frombuffer(data, dtype, count, offset)


def of_bytes(data, dtype, count):
    """Of bytes: numbers whose high bytes come first, or single characters."""
    if dtype == "S1":
        made = np.array([data[i:i + 1] for i in range(len(data))], "S1")
    else:
        kind = np.dtype(dtype[1:])
        letter = {"i1": "b", "u1": "B", "i2": "h", "u2": "H", "i4": "i", "u4": "I", "i8": "q", "f2": "e", "f4": "f", "f8": "d"}[kind.str[1:]]
        made = np.array(list(struct.unpack(f">{len(data) // kind.itemsize}{letter}", data)), kind)
    return made if count < 0 else made[:count]


class broadcast:
    """What arrays broadcast to, and their elements side by side."""

    def __init__(self, *args):
        self._arrays = np.broadcast_arrays(*args)
        self.shape = self._arrays[0].shape
        self.ndim, self.size = len(self.shape), math.prod(self.shape)
        self.nd = self.ndim

    def __iter__(self):
        return zip(*[a.reshape(-1) for a in self._arrays])


class nditer:
    """Elements as arrays without dimensions; with `multi_index` their places too. What is written to one, an operand has."""

    def __init__(self, op, flags=(), op_flags=(), order="K", **others):
        if others or set(flags) - {"multi_index", "c_index", "refs_ok", "zerosize_ok", "buffered"} or order not in ("K", "C", "A"):
            raise NotImplementedError("numpy.nditer with operands' types, allocation, external loops or another order")
        several = isinstance(op, (list, tuple)) and not builtins.all([isinstance(v, (int, float)) for v in op])
        arrays = [np._as(a) for a in (op if several else [op])]
        self.operands = np.broadcast_arrays(*arrays) if several else tuple(arrays)
        self.shape, self._several = self.operands[0].shape, several
        self.ndim, self.itersize, self.iterindex = len(self.shape), math.prod(self.shape), 0
        self.finished = not self.itersize

    multi_index = property(lambda self: tuple([int(i) for i in np.unravel_index(self.iterindex, self.shape)]) if self.shape else ())
    index = property(lambda self: self.iterindex)

    @property
    def value(self):
        at = tuple([slice(i, i + 1) for i in self.multi_index])
        made = tuple([_numpy.strided(a[at], (), ()) if isinstance(a, np.ndarray) else a[at].reshape(()) for a in self.operands])
        return made if self._several else made[0]

    def __getitem__(self, i):
        return self.value[i] if self._several else self.value

    def __setitem__(self, i, value):
        self[i][...] = value

    def iternext(self):
        self.iterindex += 1
        self.finished = self.iterindex >= self.itersize
        return not self.finished

    def __iter__(self):
        while not self.finished:
            yield self.value
            self.iternext()

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        return False


def frompyfunc(func, /, nin, nout, *, identity=None):
    def call(*args):
        arrays = np.broadcast_arrays(*args)
        made = [func(*v) for v in zip(*[a.reshape(-1).tolist() for a in arrays])]
        columns = list(zip(*made)) if nout > 1 else [made]
        out = [np.array(list(c), object).reshape(arrays[0].shape) if arrays[0].ndim else c[0] for c in columns]
        return tuple(out) if nout > 1 else out[0]
    call.__name__ = getattr(func, "__name__", "?")
    return call


def diagflat(v, k=0):
    return np.diag(np._as(v).reshape(-1), k)


def tril_indices_from(arr, k=0):
    return np.tril_indices(arr.shape[-2], k, arr.shape[-1])


def triu_indices_from(arr, k=0):
    return np.triu_indices(arr.shape[-2], k, arr.shape[-1])


def diag_indices_from(arr):
    return np.diag_indices(arr.shape[0], arr.ndim)


def mask_indices(n, mask_func, k=0):
    return np.nonzero(mask_func(np.ones((n, n), "int64"), k))


def matrix_transpose(x, /):
    return np.swapaxes(x, -1, -2)


def vecdot(x1, x2, /, axis=-1):
    return np.multiply(x1, x2).sum(axis)


def unstack(x, /, *, axis=0):
    return tuple(np.moveaxis(np._as(x), axis, 0))


def real_if_close(a, tol=100):
    a = np._as(a)
    return a.real if np.iscomplexobj(a) and np.all(np.absolute(a.imag) < tol * 2.220446049250313e-16) else a


def sort_complex(a):
    return np.sort(np._as(a).astype(complex))


def format_float_positional(x, precision=None, unique=True, fractional=True, trim="k", sign=False, pad_left=None, pad_right=None, min_digits=None):
    import decimal
    single = getattr(x, "dtype", None) is not None and x.dtype.name != "float64"
    text = format(decimal.Decimal(str(x) if unique else float(x)), "f")
    whole, _, part = text.partition(".")
    if precision is not None and len(part) > precision or not unique:
        if not fractional:
            raise NotImplementedError("numpy.format_float_positional(fractional=False)")
        whole, _, part = f"{float(x):.{precision}f}".partition(".")
    if trim != "k" or unique:
        part = part.rstrip("0") if trim != "k" or single or unique else part
    if min_digits is not None:
        part = part.ljust(min_digits, "0")
    made = whole + ("." if trim in "k." or part else "") + (part or ("0" if trim == "0" else ""))
    made = whole + ".0" if trim == "0" and not part else made
    made = "+" + made if sign and float(x) >= 0 else made
    if pad_left is not None:
        made = made.rjust(len(made) + builtins.max(pad_left - made.find(".") if "." in made else 0, 0))
    return made if pad_right is None else made.ljust(made.find(".") + 1 + pad_right)


def format_float_scientific(x, precision=None, unique=True, trim="k", sign=False, pad_left=None, exp_digits=None, min_digits=None):
    from numpy import _print
    name = getattr(getattr(x, "dtype", None), "name", "float64")
    mantissa, exponent = _print._digits(float(x), None if name == "float64" else name)
    if precision is not None and (not unique or len(mantissa.lstrip("-").replace(".", "")) - 1 > precision):
        mantissa, exponent = f"{float(x):.{precision}e}".split("e")
        exponent = int(exponent)
    whole, _, part = mantissa.partition(".")
    part = part.rstrip("0") if unique or trim != "k" else part
    part = part.ljust(min_digits or 0, "0")
    text = whole + ("." if trim in "k." or part else "") + (part or ("0" if trim == "0" else ""))
    text = text if "." in text or trim != "0" else text + ".0"
    return ("+" if sign and float(x) >= 0 else "") + f"{text}e{'-' if exponent < 0 else '+'}{str(abs(exponent)).zfill(exp_digits or 2)}"


class rec:
    """Structured arrays whose fields are attributes."""

    @staticmethod
    def fromarrays(arrayList, dtype=None, shape=None, formats=None, names=None, titles=None, aligned=False, byteorder=None):
        columns = [np._as(a) for a in arrayList]
        names = [n.strip() for n in names.split(",")] if isinstance(names, str) else names
        if dtype is None:
            dtype = [(names[i] if names else f"f{i}", c.dtype) for i, c in enumerate(columns)]
        return np.array(list(zip(*[c.tolist() for c in columns])), dtype)

    @staticmethod
    def fromrecords(recList, dtype=None, shape=None, formats=None, names=None, titles=None, aligned=False, byteorder=None):
        if dtype is not None:
            return np.array([tuple(r) for r in recList], dtype)
        return rec.fromarrays([np.array(list(c)) for c in zip(*recList)], names=names)

    @staticmethod
    def array(obj, dtype=None, names=None):
        return obj if hasattr(obj, "_parts") else rec.fromrecords(obj, dtype, names=names)


def piecewise(x, condlist, funclist, *args, **kw):
    x = np._as(x)
    condlist = [condlist] if np.ndim(condlist) == np.ndim(x) and not isinstance(condlist, list) else list(condlist)
    if len(funclist) == len(condlist) + 1:
        rest = np.ones(x.shape, "bool")
        for condition in condlist:
            rest = np.logical_and(rest, np.logical_not(condition))
        condlist.append(rest)
    elif len(funclist) != len(condlist):
        raise ValueError(f"with {len(condlist)} condition(s), either {len(condlist)} or {len(condlist) + 1} functions are expected")
    made = np.zeros(x.shape, x.dtype)
    for condition, f in zip(condlist, funclist):
        there = np._as(condition).astype("bool")
        if there.any():
            made[there] = f(x[there], *args, **kw) if callable(f) else f
    return made


def choose(a, choices, out=None, mode="raise"):
    a, n = np._as(a), len(choices)
    if mode == "raise" and np.any(np.logical_or(a < 0, a >= n)):
        raise ValueError("invalid entry in choice array")
    a, made = np.clip(a, 0, n - 1) if mode == "clip" else a % n, choices[0]
    for i in range(n):
        made = np.where(np.equal(a, i), choices[i], made)
    return np._given(made, out, None)


def unwrap(p, discont=None, axis=-1, *, period=2 * math.pi):
    p = np._as(p)
    p = np.moveaxis(p if p.dtype.kind in "iu" and isinstance(period, int) and period % 2 == 0 else p.astype("float64"), axis, -1)
    steps, half = np.diff(p), period // 2 if p.dtype.kind in "iu" else period / 2
    turned = np.remainder(steps + half, period) - half
    turned = np.where(np.logical_and(turned == -half, steps > 0), half, turned)
    turned = np.where(np.absolute(steps) < (half if discont is None else max(discont, half)), 0, turned - steps)
    made = np.concatenate([p[..., :1], p[..., 1:] + np.cumsum(turned, -1)], -1)
    return np.moveaxis(made, -1, axis)


def _window(a, b, c):
    def window(M):
        if M == 1:
            return np.ones(1)
        n = np.arange(1 - M, M, 2) * (math.pi / builtins.max(M - 1, 1))
        return a + b * np.cos(n) + c * np.cos(2.0 * n)
    return window


hanning, hamming, blackman = _window(0.5, 0.5, 0.0), _window(0.54, 0.46, 0.0), _window(0.42, 0.5, 0.08)


def cumulative_prod(x, /, *, axis=None, dtype=None, out=None, include_initial=False):
    x = np._as(x)
    made = np.cumprod(x if dtype is None else x.astype(dtype), 0 if axis is None else axis)
    if include_initial:
        made = np.concatenate([np.ones_like(np.take(made, [0], 0 if axis is None else axis)), made], 0 if axis is None else axis)
    return np._given(made, out, None)


def nancumprod(a, axis=None, dtype=None, out=None):
    a = np._as(a)
    return np._given(np.cumprod(np.where(np.isnan(a), 1, a), axis), out, dtype)


def matvec(x1, x2, /):
    return np.matmul(x1, np._as(x2)[..., None])[..., 0]


def vecmat(x1, x2, /):
    return np.matmul(np.conj(np._as(x1))[..., None, :], x2)[..., 0, :]


def unique_values(x):
    return np.unique(x)


def unique_counts(x):
    return namedtuple("UniqueCountsResult", "values counts")(*np.unique(x, return_counts=True))


def unique_inverse(x):
    values, inverse = np.unique(x, return_inverse=True)
    return namedtuple("UniqueInverseResult", "values inverse_indices")(values, np.reshape(inverse, np.shape(x)))


def unique_all(x):
    values, first, inverse, counts = np.unique(x, return_index=True, return_inverse=True, return_counts=True)
    return namedtuple("UniqueAllResult", "values indices inverse_indices counts")(values, first, np.reshape(inverse, np.shape(x)), counts)


def einsum_path(subscripts, *operands, optimize="greedy", einsum_call=False):
    raise NotImplementedError("numpy.einsum_path: numpy.einsum takes its operands from the left, and has no other order to tell")


def logspace(start, stop, num=50, endpoint=True, base=10.0, dtype=None, axis=0):
    made = np.moveaxis(base ** np.linspace(np.multiply(base, 0) + start, stop, num, endpoint), 0, axis) if np.ndim(base) else base ** np.linspace(
        start, stop, num, endpoint, axis=axis)
    return made if dtype is None else made.astype(dtype)
