"""Assertions about arrays."""

import numpy as np


def _refuse(what, err_msg, rows, actual, desired, names=("ACTUAL", "DESIRED")):
    raise AssertionError("\n".join(["", what + (f"\n{err_msg}" if err_msg else ""), *rows, f" {names[0]}: {actual!r}", f" {names[1]}: {desired!r}"]))


def _compare(fits, actual, desired, what, err_msg, equal_nan=True, strict=False, names=("ACTUAL", "DESIRED")):
    """Whether all elements of two arrays fit; those that are not numbers have to be so in both."""
    x, y = np._as(actual), np._as(desired)
    if not (x.shape == y.shape or not strict and (() in (x.shape, y.shape))) or strict and x.dtype != y.dtype:
        why = f"(shapes {x.shape}, {y.shape} mismatch)" if x.shape != y.shape else f"(dtypes {x.dtype}, {y.dtype} mismatch)"
        _refuse(what, err_msg, ["", why], x, y, names)
    if x.dtype.kind in "fc" and y.dtype.kind in "fcbiu" and equal_nan:
        odd = np.logical_and(np.isnan(x), np.isnan(y))
        if np.any(np.not_equal(np.isnan(x), np.isnan(y))):
            _refuse(what, err_msg, ["", "nan location mismatch:"], x, y, names)
    else:
        odd = np.zeros(np.broadcast_shapes(x.shape, y.shape), "bool")
    bad = np._as(np.logical_not(np.logical_or(fits(x, y), odd)))
    if not np.any(bad):
        return
    n, whole = int(np.sum(bad)), bad.size
    rows = ["", f"Mismatched elements: {n} / {whole} ({100 * n / whole:.3g}%)"]
    x, y = np.broadcast_arrays(x, y)
    if bad.ndim:
        places = np.argwhere(bad)[:5].tolist()
        rows.append("Mismatch at index:" if n == 1 else "Mismatch at indices:" if n <= 5 else "First 5 mismatches are at indices:")
        rows += [f" {p}: {x[tuple(p)]} ({names[0]}), {y[tuple(p)]} ({names[1]})" for p in places]
    if x.dtype.kind in "biuf" and y.dtype.kind in "biuf":
        apart = np.absolute(np.subtract(x, y) if x.dtype.kind == y.dtype.kind == "i" else np.subtract(np.multiply(x, 1.0), y))[bad]
        size = np.absolute(np.multiply(y, 1.0))[bad]
        shown = [np.max(apart), np.max(apart[size != 0] / size[size != 0]) if np.any(size != 0) else np.inf]
        rows += [f"Max {word} difference among violations: {str(np.array([v]))[1:-1].strip()}" for word, v in zip(("absolute", "relative"), shown)]
    _refuse(what, err_msg, rows, np._as(actual), np._as(desired), names)


def assert_allclose(actual, desired, rtol=1e-07, atol=0, equal_nan=True, err_msg="", verbose=True, *, strict=False):
    _compare(lambda x, y: np.isclose(x, y, rtol, atol), actual, desired, f"Not equal to tolerance rtol={rtol:g}, atol={atol:g}", err_msg, equal_nan, strict)


def assert_array_equal(actual, desired, err_msg="", verbose=True, *, strict=False):
    _compare(np.equal, actual, desired, "Arrays are not equal", err_msg, True, strict)


def _near(decimal):
    return lambda x, y: np.logical_or(np.equal(x, y), np.absolute(np.subtract(np.multiply(x, 1.0), y)) < 1.5 * 10.0 ** -decimal)


def assert_array_almost_equal(actual, desired, decimal=6, err_msg="", verbose=True):
    _compare(_near(decimal), actual, desired, f"Arrays are not almost equal to {decimal} decimals", err_msg)


def assert_almost_equal(actual, desired, decimal=7, err_msg="", verbose=True):
    if np.ndim(actual) or np.ndim(desired):
        return assert_array_almost_equal(actual, desired, decimal, err_msg)
    if actual != actual and desired != desired or actual == desired or abs(desired - actual) < 1.5 * 10.0 ** -decimal:
        return
    _refuse(f"Arrays are not almost equal to {decimal} decimals", err_msg, [], actual, desired)


def assert_approx_equal(actual, desired, significant=7, err_msg="", verbose=True):
    import math
    if actual == desired or actual != actual and desired != desired:
        return
    scale = 10.0 ** math.floor(math.log10(0.5 * (abs(actual) + abs(desired))))
    if not abs(desired / scale - actual / scale) < 10.0 ** -(significant - 1):
        _refuse(f"Items are not equal to {significant} significant digits:", err_msg, [], actual, desired)


def assert_array_less(x, y, err_msg="", verbose=True, *, strict=False):
    _compare(np.less, x, y, "Arrays are not strictly ordered `x < y`", err_msg, False, strict, ("x", "y"))


def assert_string_equal(actual, desired):
    if actual != desired:
        raise AssertionError(f"Differences in strings:\n- {actual}+ {desired}")


def assert_equal(actual, desired, err_msg="", verbose=True, *, strict=False):
    if isinstance(desired, dict) and isinstance(actual, dict):
        assert_equal(len(actual), len(desired), err_msg)
        for k in desired:
            if k not in actual:
                raise AssertionError(repr(k))
            assert_equal(actual[k], desired[k], f"key={k!r}\n{err_msg}")
    elif isinstance(desired, (list, tuple)) and isinstance(actual, (list, tuple)):
        assert_equal(len(actual), len(desired), err_msg)
        for i, (a, b) in enumerate(zip(actual, desired)):
            assert_equal(a, b, f"item={i!r}\n{err_msg}")
    elif isinstance(actual, np.ndarray) or isinstance(desired, np.ndarray) or np.ndim(actual) or np.ndim(desired):
        assert_array_equal(actual, desired, err_msg, strict=strict)
    elif not (actual == desired or actual != actual and desired != desired):
        _refuse("Items are not equal:", err_msg, [], actual, desired)


def assert_raises(exception, callable=None, *args, **kwargs):
    import unittest
    case = unittest.TestCase()
    return case.assertRaises(exception, callable, *args, **kwargs) if callable else case.assertRaises(exception)


def assert_raises_regex(exception, regex, callable=None, *args, **kwargs):
    import unittest
    case = unittest.TestCase()
    return case.assertRaisesRegex(exception, regex, *(() if callable is None else (callable,)), *args, **kwargs)


def assert_warns(warning, callable=None, *args, **kwargs):
    import unittest
    case = unittest.TestCase()
    return case.assertWarns(warning, callable, *args, **kwargs) if callable else case.assertWarns(warning)
