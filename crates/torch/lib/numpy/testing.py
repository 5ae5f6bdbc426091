"""Assertions about arrays."""

import numpy as np


def _refuse(actual, desired, what, err_msg):
    raise AssertionError(f"\n{what}\n{err_msg}\n ACTUAL: {actual!r}\n DESIRED: {desired!r}")


def assert_allclose(actual, desired, rtol=1e-07, atol=0, equal_nan=True, err_msg="", verbose=True):
    if not np.allclose(actual, desired, rtol, atol, equal_nan):
        _refuse(actual, desired, f"Not equal to tolerance rtol={rtol:g}, atol={atol:g}", err_msg)


def assert_array_equal(actual, desired, err_msg="", verbose=True):
    if not np.array_equal(actual, desired):
        _refuse(actual, desired, "Arrays are not equal", err_msg)


def assert_almost_equal(actual, desired, decimal=7, err_msg="", verbose=True):
    if not np.all(np.abs(np.asarray(desired) - np.asarray(actual)) < 1.5 * 10.0 ** -decimal):
        _refuse(actual, desired, f"Arrays are not almost equal to {decimal} decimals", err_msg)


assert_array_almost_equal = assert_almost_equal


def assert_equal(actual, desired, err_msg="", verbose=True):
    same = np.array_equal(actual, desired) if isinstance(actual, np.ndarray) or isinstance(desired, np.ndarray) else actual == desired
    if not same:
        _refuse(actual, desired, "Items are not equal:", err_msg)


def assert_raises(exception, callable=None, *args, **kwargs):
    import unittest
    case = unittest.TestCase()
    return case.assertRaises(exception, callable, *args, **kwargs) if callable else case.assertRaises(exception)
