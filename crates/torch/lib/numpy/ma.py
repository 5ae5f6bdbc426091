"""Masked arrays: values, and which of them are not there."""
import builtins

import numpy as np

nomask = np.bool_(False)


class MaskedConstant:
    def __repr__(self):
        return "masked"

    def __str__(self):
        return "--"

    def __float__(self):
        return float("nan")

    def __bool__(self):
        return False

    def __format__(self, spec):
        return format("--", spec) if not spec or spec[-1] not in "defg" else "--"


def _set_in(values, n):
    return np.array2string(values, separator=", ").replace("\n", "\n" + " " * n)


class _Shown:
    def __repr__(self):
        return "--"


masked, _SHOWN = MaskedConstant(), _Shown()


class MaskError(Exception):
    pass


def _fill_of(dtype):
    kind = np.dtype(dtype).kind
    return {"f": 1e20, "i": 999999, "u": 999999, "b": True}.get(kind, "N/A")


def getdata(a, subok=True):
    return a.data if isinstance(a, MaskedArray) else np.asarray(a)


def getmask(a):
    return a.mask if isinstance(a, MaskedArray) else nomask


def getmaskarray(a):
    return a._m if isinstance(a, MaskedArray) else np.zeros(np.shape(a), dtype=bool)


def is_masked(x):
    return isinstance(x, MaskedConstant) or bool(getmaskarray(x).any()) if isinstance(x, (MaskedArray, MaskedConstant)) else False


def isMaskedArray(x):
    return isinstance(x, MaskedArray)


isMA = isarray = isMaskedArray


def _made(data, mask, fill_value=None):
    return MaskedArray(data, mask=mask, fill_value=fill_value)


def _result(data, mask):
    """Of a reduction: an array, or a value, which may be masked."""
    if np.ndim(data):
        return _made(data, mask)
    return masked if bool(mask) else data


class MaskedArray:
    __array_priority__ = 15

    def __init__(self, data, mask=nomask, dtype=None, copy=False, subok=True, ndmin=0, fill_value=None, keep_mask=True, hard_mask=False, shrink=True):
        known = data._m if isinstance(data, MaskedArray) else None
        if isinstance(data, (list, tuple)) and builtins.any(x is masked for x in data):
            known = np.array([x is masked for x in data])
            data = [0 if x is masked else x for x in data]
        values = np.array(getdata(data), dtype=dtype)
        own = np.zeros(values.shape, dtype=bool)
        if mask is not nomask and mask is not None:
            given = np.asarray(mask).astype(bool)
            if given.size != values.size and given.size != 1:
                raise MaskError(f"Mask and data not compatible: data size is {values.size}, mask size is {given.size}.")
            own = own | (given if given.size == 1 else given.reshape(values.shape))
        self._plain = known is None and (mask is nomask or mask is None)
        self.data, self._m = values, own if known is None else own | known
        self._fill = fill_value

    @property
    def mask(self):
        return nomask if self._plain else self._m

    @mask.setter
    def mask(self, value):
        self._plain = False
        self._m = np.zeros(self.data.shape, dtype=bool) | np.asarray(value if value is not nomask else False).astype(bool)

    @property
    def fill_value(self):
        return _fill_of(self.dtype) if self._fill is None else self._fill

    @fill_value.setter
    def fill_value(self, value):
        self._fill = value

    shape = property(lambda self: self.data.shape)
    dtype = property(lambda self: self.data.dtype)
    ndim = property(lambda self: self.data.ndim)
    size = property(lambda self: self.data.size)
    T = property(lambda self: self.transpose())

    def __len__(self):
        return len(self.data)

    def __iter__(self):
        return (self[i] for i in range(len(self)))

    def __array__(self, dtype=None):
        if self._m.any():
            raise TypeError("a masked array is given to a function that does not know of masks: use that of np.ma, .filled(..) or .compressed()")
        return self.data if dtype is None else self.data.astype(dtype)

    # What is there.

    def filled(self, fill_value=None):
        value = self.fill_value if fill_value is None else fill_value
        return np.where(self._m, np.array(value).astype(self.dtype), self.data) if self._m.any() else self.data.copy()

    def compressed(self):
        return self.data[~self._m]

    def count(self, axis=None):
        found = (~self._m).sum(axis=axis)
        return found

    def tolist(self):
        if not self.ndim:
            return None if bool(self._m) else self.data.tolist()
        return [x.tolist() if isinstance(x, MaskedArray) else None if x is masked else getattr(x, "tolist", lambda: x)() for x in self]

    def copy(self):
        made = _made(self.data.copy(), self._m.copy(), self._fill)
        made._plain = self._plain
        return made

    def _same(self, data, mask):
        made = _made(data, mask, self._fill)
        made._plain = self._plain
        return made

    def astype(self, dtype):
        return self._same(self.data.astype(dtype), self._m)

    def reshape(self, *shape):
        return self._same(self.data.reshape(*shape), self._m.reshape(*shape))

    def transpose(self, *axes):
        return self._same(self.data.transpose(*axes), self._m.transpose(*axes))

    def ravel(self):
        return self.reshape(-1)

    flatten = ravel

    def squeeze(self):
        return self._same(self.data.squeeze(), self._m.squeeze())

    # Elements.

    def _index(self, key):
        if isinstance(key, MaskedArray):
            return key.data
        return tuple(self._index(k) for k in key) if isinstance(key, tuple) else key

    def __getitem__(self, key):
        key = self._index(key)
        data, mask = self.data[key], self._m[key]
        return self._same(data, mask) if np.ndim(data) else masked if bool(mask) else data

    def __setitem__(self, key, value):
        key = self._index(key)
        if value is masked:
            self._plain = False
            self._m[key] = True
            return
        if isinstance(value, MaskedArray):
            self._plain = self._plain and value._plain
            self.data[key], self._m[key] = value.data, value._m
        else:
            self.data[key] = value
            self._m[key] = False

    # Printing.

    def _texts(self):
        if self._plain:
            return self.data
        shown = np.array([_SHOWN if m else v for v, m in zip(self.data.reshape(-1).tolist(), self._m.reshape(-1).tolist())], dtype=object)
        return shown.reshape(self.shape)

    def __str__(self):
        return str(self._texts()) if self.ndim or not self._m.any() else "--"

    def __repr__(self):
        dtype = self.dtype not in (np.dtype("float64"), np.dtype("int64"), np.dtype(bool))
        if self.ndim <= 1:
            data = _set_in(self._texts(), 18) if self.ndim else str(self)
            mask = "False" if self._plain else _set_in(self._m, 18)
            last = f",\n{'dtype=':>18}{self.dtype}" if dtype else ""
            return f"masked_array(data={data},\n{'mask=':>18}{mask},\n{'fill_value=':>18}{self.fill_value!r}{last})"
        data = _set_in(self._texts(), 7)
        mask = "False" if self._plain else _set_in(self._m, 7)
        last = f",\n  dtype={self.dtype}" if dtype else ""
        return f"masked_array(\n  data={data},\n  mask={mask},\n  fill_value={self.fill_value!r}{last})"

    # Reductions.

    def _neutral(self, value):
        return np.where(self._m, np.array(value).astype(self.dtype), self.data)

    def _gone(self, axis, keepdims):
        return self._m.all(axis=axis, keepdims=keepdims)

    def sum(self, axis=None, dtype=None, out=None, keepdims=False):
        return _result(self._neutral(0).sum(axis=axis, keepdims=keepdims), self._gone(axis, keepdims))

    def prod(self, axis=None, dtype=None, out=None, keepdims=False):
        return _result(self._neutral(1).prod(axis=axis, keepdims=keepdims), self._gone(axis, keepdims))

    def mean(self, axis=None, dtype=None, out=None, keepdims=False):
        n = (~self._m).sum(axis=axis, keepdims=keepdims)
        return _result(self._neutral(0).sum(axis=axis, keepdims=keepdims) / np.maximum(n, 1), self._gone(axis, keepdims))

    def var(self, axis=None, dtype=None, out=None, ddof=0, keepdims=False):
        n = (~self._m).sum(axis=axis, keepdims=True)
        middle = self._neutral(0).sum(axis=axis, keepdims=True) / np.maximum(n, 1)
        squares = np.where(self._m, 0.0, (self.data - middle) ** 2).sum(axis=axis, keepdims=keepdims)
        n = (~self._m).sum(axis=axis, keepdims=keepdims)
        return _result(squares / np.maximum(n - ddof, 1), n - ddof <= 0)

    def std(self, axis=None, dtype=None, out=None, ddof=0, keepdims=False):
        found = self.var(axis, ddof=ddof, keepdims=keepdims)
        return found if found is masked else sqrt(found)

    def _extreme(self, name, axis, keepdims):
        kind = self.dtype.kind
        edge = {"f": float("inf"), "b": True}.get(kind, 2 ** 31 - 1)
        edge = edge if name == "min" else (False if kind == "b" else -edge)
        return _result(getattr(self._neutral(edge), name)(axis=axis, keepdims=keepdims), self._gone(axis, keepdims))

    def min(self, axis=None, out=None, fill_value=None, keepdims=False):
        return self._extreme("min", axis, keepdims)

    def max(self, axis=None, out=None, fill_value=None, keepdims=False):
        return self._extreme("max", axis, keepdims)

    def ptp(self, axis=None):
        return self.max(axis) - self.min(axis)

    def argmin(self, axis=None):
        return self._neutral(float("inf") if self.dtype.kind == "f" else 2 ** 31 - 1).argmin(axis=axis)

    def argmax(self, axis=None):
        return self._neutral(float("-inf") if self.dtype.kind == "f" else -2 ** 31).argmax(axis=axis)

    def any(self, axis=None, out=None, keepdims=False):
        return _result(self._neutral(0).astype(bool).any(axis=axis, keepdims=keepdims), self._gone(axis, keepdims))

    def all(self, axis=None, out=None, keepdims=False):
        return _result(self._neutral(1).astype(bool).all(axis=axis, keepdims=keepdims), self._gone(axis, keepdims))

    def cumsum(self, axis=None):
        return self._same(self._neutral(0).cumsum(axis=axis), self._m)

    def __bool__(self):
        return bool(self.filled(False)) if self.size == 1 else bool(self.data)

    def __float__(self):
        return float("nan") if bool(self._m.any()) else float(self.data)

    def __int__(self):
        return int(self.data)

    def item(self):
        return self.data.item()


def _operator(name):
    def run(self, other):
        if other is masked:
            return self._same(self.data, np.ones(self.shape, dtype=bool))
        mask = self._m | getmaskarray(other)
        mine, others = self.data, getdata(other) if isinstance(other, MaskedArray) else other
        if name in ("__truediv__", "__rtruediv__", "__floordiv__", "__mod__"):
            below = mine if name.startswith("__r") else np.asarray(others)
            mask = mask | (below == 0)
            safe = np.where(below == 0, np.ones_like(below), below)
            mine, others = (safe, others) if name.startswith("__r") else (mine, safe)
        data = getattr(mine, name)(others)
        if data is NotImplemented:
            return data
        if data.dtype.kind == self.dtype.kind:
            data = np.where(mask, self.data, data) if data.shape == self.shape else data
        made = _made(data, mask)
        made._plain = self._plain and (not isinstance(other, MaskedArray) or other._plain) and not mask.any()
        return made
    return run


for _name in "add radd sub rsub mul rmul truediv rtruediv floordiv mod pow rpow eq ne lt le gt ge and or xor".split():
    setattr(MaskedArray, f"__{_name}__", _operator(f"__{_name}__"))
for _name in ("neg", "abs", "invert"):
    setattr(MaskedArray, f"__{_name}__", lambda self, _name=_name: self._same(getattr(self.data, f"__{_name}__")(), self._m))

masked_array = MaskedArray


def array(data, dtype=None, copy=False, order=None, mask=nomask, fill_value=None, **kwargs):
    return MaskedArray(data, mask=mask, dtype=dtype, fill_value=fill_value)


def asarray(a, dtype=None):
    return a if isinstance(a, MaskedArray) and dtype is None else MaskedArray(a, dtype=dtype)


asanyarray = asarray


def masked_where(condition, a, copy=True):
    return _made(a, getmaskarray(a) | np.asarray(getdata(condition)).astype(bool))


def _where(name):
    def run(x, value, copy=True):
        return masked_where(getattr(np.asarray(getdata(x)), name)(value), x)
    return run


def masked_equal(x, value, copy=True):
    made = masked_where(np.asarray(getdata(x)) == value, x)
    made.fill_value = value
    return made


masked_not_equal, masked_greater = _where("__ne__"), _where("__gt__")
masked_greater_equal, masked_less, masked_less_equal = _where("__ge__"), _where("__lt__"), _where("__le__")


def masked_inside(x, v1, v2, copy=True):
    data = np.asarray(getdata(x))
    return masked_where((data >= builtins.min(v1, v2)) & (data <= builtins.max(v1, v2)), x)


def masked_outside(x, v1, v2, copy=True):
    data = np.asarray(getdata(x))
    return masked_where((data < builtins.min(v1, v2)) | (data > builtins.max(v1, v2)), x)


def masked_invalid(a, copy=True):
    return masked_where(~np.isfinite(np.asarray(getdata(a))), a)


def masked_values(x, value, rtol=1e-5, atol=1e-8, copy=True, shrink=True):
    return _made(x, np.isclose(np.asarray(x), value, rtol=rtol, atol=atol), value)


def masked_all(shape, dtype=float):
    return _made(np.zeros(shape, dtype=dtype), np.ones(shape, dtype=bool))


def zeros(shape, dtype=float):
    return MaskedArray(np.zeros(shape, dtype=dtype))


def ones(shape, dtype=float):
    return MaskedArray(np.ones(shape, dtype=dtype))


empty = zeros


def arange(*args, **kwargs):
    return MaskedArray(np.arange(*args, **kwargs))


def filled(a, fill_value=None):
    return a.filled(fill_value) if isinstance(a, MaskedArray) else np.asarray(a)


def compressed(x):
    return asarray(x).compressed()


def concatenate(arrays, axis=0):
    return _made(np.concatenate([getdata(a) for a in arrays], axis), np.concatenate([getmaskarray(a) for a in arrays], axis))


def stack(arrays, axis=0):
    return _made(np.stack([getdata(a) for a in arrays], axis), np.stack([getmaskarray(a) for a in arrays], axis))


def where(condition, x, y):
    chosen = np.asarray(getdata(condition)).astype(bool)
    mask = np.where(chosen, getmaskarray(x), getmaskarray(y)) | getmaskarray(condition)
    return _made(np.where(chosen, getdata(x), getdata(y)), mask)


def median(a, axis=None):
    if axis is not None:
        raise NotImplementedError("np.ma.median along an axis: take np.ma.compressed of each row")
    found = asarray(a).compressed()
    return np.median(found) if found.size else masked


def average(a, axis=None, weights=None):
    a = asarray(a)
    if weights is None:
        return a.mean(axis)
    weights = np.where(a._m, 0, np.asarray(weights))
    return (a * weights).sum(axis) / weights.sum(axis)


def _unary(name, bad=None):
    def run(x):
        if not isinstance(x, MaskedArray):
            x = MaskedArray(x)
        mask = x._m | bad(x.data) if bad else x._m
        data = np.where(mask, 1, x.data) if bad else x.data
        return _made(np.where(mask, x.data, getattr(np, name)(data)), mask) if x.ndim else _result(getattr(np, name)(data), mask)
    return run


sqrt, exp, abs, absolute = _unary("sqrt", lambda d: d < 0), _unary("exp"), _unary("abs"), _unary("abs")
log, log10, log2 = (_unary(name, lambda d: d <= 0) for name in ("log", "log10", "log2"))


def _method(name):
    def run(a, *args, **kwargs):
        return getattr(asarray(a), name)(*args, **kwargs)
    return run


sum, mean, std, var, prod, min, max, count, any, all, cumsum, argmin, argmax = (
    _method(name) for name in "sum mean std var prod min max count any all cumsum argmin argmax".split())
