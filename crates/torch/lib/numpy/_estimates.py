"""Averages, quantiles and histograms, and padding."""

import bisect
import builtins
import math
import numpy as np


def average(a, axis=None, weights=None, returned=False, *, keepdims=False):
    a = np._as(a)
    if weights is None:
        made = np.mean(a, axis, keepdims=keepdims)
        return (made, np.full(np.shape(made), a.size / max(np.size(made), 1))[()]) if returned else made
    weights = np._as(weights)
    if weights.shape != a.shape:
        if axis is None:
            raise TypeError("Axis must be specified when shapes of a and weights differ.")
        axes = [np._axis_of(d, a.ndim) for d in (axis if isinstance(axis, tuple) else (axis,))]
        if weights.shape != tuple([a.shape[d] for d in axes]):
            raise ValueError("Shape of weights must be consistent with shape of a along specified axis.")
        weights = np.transpose(weights, sorted(range(len(axes)), key=lambda i: axes[i]))
        weights = np.broadcast_to(weights.reshape([n if d in axes else 1 for d, n in enumerate(a.shape)]), a.shape)
    total = np.sum(weights, axis, keepdims=keepdims)
    if np.any(np.equal(total, 0.0)):
        raise ZeroDivisionError("Weights sum to zero, can't be normalized")
    made = np.sum(np.multiply(a, weights), axis, keepdims=keepdims) / total
    return (made, np.multiply(total, 1.0)) if returned else made


# Where a quantile lies among n sorted values, counted from zero (Hyndman and Fan, 1996).
_PLACES = {
    "linear": lambda n, q: (n - 1) * q, "hazen": lambda n, q: n * q - 0.5, "weibull": lambda n, q: (n + 1) * q - 1,
    "median_unbiased": lambda n, q: n * q + (q + 1.0) / 3.0 - 1, "normal_unbiased": lambda n, q: n * q + 0.25 * q - 0.625,
    "interpolated_inverted_cdf": lambda n, q: n * q - 1,
    "inverted_cdf": lambda n, q: math.ceil(n * q) - 1, "closest_observation": lambda n, q: _nearest(n * q - 0.5, n * q - 1.5),
    "lower": lambda n, q: math.floor((n - 1) * q), "higher": lambda n, q: math.ceil((n - 1) * q),
    "nearest": lambda n, q: round((n - 1) * q), "midpoint": lambda n, q: (math.floor((n - 1) * q) + math.ceil((n - 1) * q)) / 2,
}


def _nearest(place, before):
    """Of two numbers as far away, the one whose place, counted from one, is even."""
    low = math.floor(before)
    return low if before == low and low % 2 == 1 else low + 1


def quantile(a, q, axis=None, out=None, overwrite_input=False, method="linear", keepdims=False, *, weights=None):
    if weights is not None:
        raise NotImplementedError("numpy.quantile(weights=..)")
    if method != "averaged_inverted_cdf" and method not in _PLACES:
        raise ValueError(f"{method!r} is not a valid method. Use one of: {sorted([*_PLACES, 'averaged_inverted_cdf'])}")
    a, given = np._as(a), np._as(q)
    axes = None if axis is None else [np._axis_of(d, a.ndim) for d in (axis if isinstance(axis, (tuple, list)) else [axis])]
    rows = a.reshape(-1) if axes is None else np.moveaxis(a, axes, list(range(len(axes))))
    rows = rows if axes is None else rows.reshape((-1,) + rows.shape[len(axes):])
    if rows.dtype.name == "bool":
        raise TypeError("numpy boolean subtract, the `-` operator, is not supported, use the bitwise_xor, the `^` operator, instead.")
    ordered = np.sort(rows, 0)
    n = ordered.shape[0]
    whole = method in ("inverted_cdf", "closest_observation", "lower", "higher", "nearest")
    odd = np.isnan(ordered[-1]) if n and a.dtype.kind == "f" else None

    def one(p):
        if not 0 <= p <= 1:
            raise ValueError("Quantiles must be in the range [0, 1]")
        if not n:
            return np.full(ordered.shape[1:], math.nan)[()]
        if method == "averaged_inverted_cdf":
            place = (math.ceil(n * p) + math.floor(n * p + 1)) / 2 - 1
        else:
            place = _PLACES[method](n, p)
        place = builtins.min(builtins.max(place, 0), n - 1)
        low = math.floor(place)
        if whole:
            made = ordered[low]
        else:
            first, last, share = ordered[low], ordered[builtins.min(low + 1, n - 1)], place - low
            apart = np.subtract(last, first)
            made = np.add(first, apart * share) if share < 0.5 else np.subtract(last, apart * (1 - share))
        return made if odd is None or not np.any(odd) else np._scalar(np.where(odd, math.nan, made))
    made = [one(p) for p in given.reshape(-1).tolist()]
    made = np.stack([np._as(m) for m in made]).reshape(given.shape + np.shape(made[0])) if given.ndim else made[0]
    if keepdims:
        made = np.reshape(made, given.shape + tuple([1 if axes is None or d in axes else s for d, s in enumerate(a.shape)]))
    return np._given(made, out, None)


def percentile(a, q, axis=None, out=None, overwrite_input=False, method="linear", keepdims=False, *, weights=None):
    given = np._as(q)
    if given.size and (np.any(given < 0) or np.any(given > 100)):
        raise ValueError("Percentiles must be in the range [0, 100]")
    return quantile(a, np.divide(q, 100.0), axis, out, overwrite_input, method, keepdims, weights=weights)


def nanquantile(a, q, axis=None, **others):
    return np.nanpercentile(a, np.multiply(q, 100.0), axis, **others)


def median(a, axis=None, out=None, overwrite_input=False, keepdims=False):
    a = np._as(a)
    a = a.astype("float64") if a.dtype.kind in "biu" else a
    return quantile(a, 0.5, axis, out, method="midpoint" if a.size else "linear", keepdims=keepdims)


def _spread(x):
    return float(np.subtract(*np.percentile(x, [75, 25])))


def _stone(x):
    n, wide = x.size, float(np.ptp(x))

    def cost(count):
        counts = np.histogram(x, count)[0] / n
        return (2 - (n + 1) * float(np.dot(counts, counts))) / (wide / count)
    most = builtins.max(100, int(math.sqrt(n)))
    return wide / builtins.min(range(1, most + 1), key=cost)


def _doane(x):
    if x.size <= 2 or not float(x.std()):
        return 0.0
    skew = float((((x - x.mean()) / x.std()) ** 3).mean())
    error = math.sqrt(6.0 * (x.size - 2) / ((x.size + 1.0) * (x.size + 3)))
    return float(np.ptp(x)) / (1.0 + math.log2(x.size) + math.log2(1.0 + abs(skew) / error))


# How wide a bin is.
_WIDTHS = {
    "sqrt": lambda x: float(np.ptp(x)) / math.sqrt(x.size), "sturges": lambda x: float(np.ptp(x)) / (math.log2(x.size) + 1.0),
    "rice": lambda x: float(np.ptp(x)) / (2.0 * x.size ** (1.0 / 3)), "fd": lambda x: 2.0 * _spread(x) * x.size ** (-1.0 / 3.0),
    "scott": lambda x: (24.0 * math.pi ** 0.5 / x.size) ** (1.0 / 3.0) * float(x.std()), "doane": _doane, "stone": _stone,
    "auto": lambda x: builtins.min(builtins.max(_WIDTHS["fd"](x), _WIDTHS["sqrt"](x) / 2), _WIDTHS["sturges"](x)) if _WIDTHS["fd"](x)
    else _WIDTHS["sturges"](x),
}


def histogram_bin_edges(a, bins=10, range=None, weights=None):
    a = np._as(a).reshape(-1)
    if np.ndim(bins) == 1:
        edges = np._as(bins)
        if np.any(edges[:-1] > edges[1:]):
            raise ValueError("`bins` must increase monotonically, when an array")
        return edges
    if range is None:
        low, high = (float(a.min()), float(a.max())) if a.size else (0.0, 1.0)
        if not (math.isfinite(low) and math.isfinite(high)):
            raise ValueError(f"autodetected range of [{low}, {high}] is not finite")
    else:
        low, high = range
        if low > high:
            raise ValueError("max must be larger than min in range parameter.")
    if low == high:
        low, high = low - 0.5, high + 0.5
    if isinstance(bins, str):
        if bins not in _WIDTHS:
            raise ValueError(f"{bins!r} is not a valid estimator for `bins`")
        if weights is not None:
            raise TypeError("Automated estimation of the number of bins is not supported for weighted data")
        inside = a[np.logical_and(a >= low, a <= high)] if range is not None else a
        width = _WIDTHS[bins](inside) if inside.size else 0.0
        if inside.dtype.kind in "iu" and 0 < width < 1:
            width = 1.0
        bins = int(math.ceil((high - low) / width)) if width else 1
    if bins < 1:
        raise ValueError("`bins` must be positive")
    return np.linspace(low, high, int(bins) + 1)


def _bins(values, edges):
    """The bin of every value, the last with its right end; `None` outside."""
    marks, n = edges.tolist(), len(edges) - 1
    return [builtins.min(bisect.bisect_right(marks, v) - 1, n - 1) if marks[0] <= v <= marks[-1] else None for v in values.tolist()]


def histogram(a, bins=10, range=None, density=False, weights=None):
    a, edges = np._as(a).reshape(-1), histogram_bin_edges(a, bins, range, weights)
    counts = [0] * (len(edges) - 1)
    for i, w in zip(_bins(a, edges), [1] * a.size if weights is None else np._as(weights).reshape(-1).tolist()):
        if i is not None:
            counts[i] += w
    counts = np.array(counts, np.int64 if weights is None or np._as(weights).dtype.kind in "iu" else np.float64)
    return (counts / (counts.sum() * np.diff(edges)) if density else counts), edges


def histogramdd(sample, bins=10, range=None, density=False, weights=None):
    if isinstance(sample, (list, tuple)):
        sample = np.atleast_2d(np._as(sample)).T
    columns = [sample] if sample.ndim == 1 else list(sample.T)
    bins = [bins] * len(columns) if np.ndim(bins) == 0 else list(bins)
    if len(bins) != len(columns):
        raise ValueError("The dimension of bins must be equal to the dimension of the sample x.")
    edges = [histogram_bin_edges(c, b, None if range is None else range[i]).astype("float64") for i, (c, b) in enumerate(zip(columns, bins))]
    made = np.zeros([len(e) - 1 for e in edges])
    places = zip(*[_bins(c, e) for c, e in zip(columns, edges)])
    for place, w in zip(places, [1.0] * len(columns[0]) if weights is None else np._as(weights).tolist()):
        if None not in place:
            made[place] += w
    if density:
        made = made / made.sum()
        for d, e in enumerate(edges):
            made = made / np.diff(e).reshape([-1 if d == i else 1 for i in builtins.range(made.ndim)])
    return made, tuple(edges)


def histogram2d(x, y, bins=10, range=None, density=False, weights=None):
    if len(x) != len(y):
        raise ValueError("x and y must have the same length.")
    if np.ndim(bins) == 1 and len(bins) != 2 and not isinstance(bins[0], (list, np.ndarray)):
        bins = [bins, bins]
    made, (first, last) = histogramdd(np.stack([np._as(x), np._as(y)], 1), bins, range, density, weights)
    return made, first, last


def _widths(given, rank):
    given = given.get if isinstance(given, dict) else given
    if callable(given):
        return [given(d, (0, 0)) if not isinstance(given(d, 0), int) else (given(d, 0),) * 2 for d in range(rank)]
    pairs = np.broadcast_to(np._as(given), (rank, 2))
    return [tuple(p) for p in pairs.tolist()]


def pad(array, pad_width, mode="constant", **kwargs):
    a = np._as(array)
    widths = _widths(pad_width, a.ndim)
    if builtins.any([n < 0 for pair in widths for n in pair]):
        raise ValueError("index can't contain negative values")
    known = {"constant": {"constant_values"}, "linear_ramp": {"end_values"}, "reflect": {"reflect_type"}, "symmetric": {"reflect_type"}}
    known.update({name: {"stat_length"} for name in ("maximum", "minimum", "mean", "median")})
    known.update({"edge": set(), "wrap": set(), "empty": set()})
    if callable(mode):
        raise NotImplementedError("numpy.pad(mode=a function)")
    if mode not in known:
        raise ValueError(f"mode '{mode}' is not supported")
    if set(kwargs) - known[mode]:
        raise ValueError(f"unsupported keyword arguments for mode '{mode}': {set(kwargs) - known[mode]}")
    if kwargs.get("reflect_type", "even") != "even" or kwargs.get("stat_length") is not None:
        raise NotImplementedError(f"numpy.pad(mode={mode!r}, {next(iter(kwargs))}=..)")
    ends = _widths(kwargs.get("constant_values", kwargs.get("end_values", 0)), a.ndim)
    for axis, (l, r) in enumerate(widths):
        n = a.shape[axis]
        if mode in ("constant", "linear_ramp", "maximum", "minimum", "mean", "median", "empty"):
            a = _beside(a, axis, l, r, mode, ends[axis])
            continue
        places = np.arange(-l, n + r)
        if mode == "edge":
            places = np.clip(places, 0, n - 1)
        elif mode == "wrap":
            places = places % n
        else:
            # There and back: with the ends once, or twice.
            turn = builtins.max(2 * n - 2, 1) if mode == "reflect" else 2 * n
            places = places % turn
            places = np.where(places < n, places, (turn if mode == "reflect" else turn - 1) - places)
        a = np.take(a, places, axis=axis)
    return a


def _beside(a, axis, l, r, mode, ends):
    """An array with `l` and `r` values beside it along an axis."""
    def side(n, end, edge):
        shape = [n if d == axis else s for d, s in enumerate(a.shape)]
        if mode == "empty" or not n:
            return np.zeros(shape, a.dtype)
        if mode == "constant":
            return np.full(shape, end, a.dtype)
        if mode == "linear_ramp":
            share = (np.arange(n) / n).reshape([-1 if d == axis else 1 for d in range(a.ndim)])
            return end + (np.take(a, [edge], axis) - end) * share
        of = getattr(np, mode if mode in ("mean", "median") else mode[:3])
        made = of(a, axis, keepdims=True)
        return np.broadcast_to(np.rint(made) if a.dtype.kind in "iu" else made, shape)
    first, last = side(l, ends[0], 0), side(r, ends[1], -1)
    last = np.flip(last, axis) if mode == "linear_ramp" else last
    return np.concatenate([np._as(p).astype(a.dtype) for p in (first, a, last)], axis)
