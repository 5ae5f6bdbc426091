"""Divisions by zero: what NumPy warns of, or raises where `errstate` asks for it, and what whole numbers give."""

import _numpy
import numpy as np
import warnings

# What is done about each kind of error.
errors = {"divide": "warn", "over": "warn", "under": "ignore", "invalid": "warn"}


def _tell(kind, name):
    text = f"{'divide by zero' if kind == 'divide' else 'invalid value'} encountered in {name}"
    if errors[kind] == "raise":
        raise FloatingPointError(text)
    if errors[kind] == "warn":
        warnings.warn(text, RuntimeWarning, stacklevel=4)


def divided(name, a, b, made):
    """The quotient or remainder `made`, whose zeros below are looked for."""
    zero = _numpy.binary("equal", b, 0)
    if zero is False or zero is not True and not zero.any():
        return made
    if getattr(made, "dtype", None) is not None and made.dtype.kind in "iu":
        _tell("divide", name)
        return np.where(zero, 0, made).astype(made.dtype)
    # Zero by zero, and what is no number, has no quotient; nothing has a remainder.
    top = np._as(a)
    odd = np.logical_or(np.equal(top, 0), np.isnan(top))
    if name != "remainder" and np.any(np.logical_and(zero, np.logical_not(odd))):
        _tell("divide", name)
    if np.any(zero if name == "remainder" else np.logical_and(zero, np.equal(top, 0))):
        _tell("invalid", name)
    return made


class errstate:
    """What is done about errors within a block."""

    def __init__(self, **settings):
        self._settings = settings

    def __enter__(self):
        self._before = seterr(**self._settings)

    def __exit__(self, *exc):
        errors.update(self._before)
        return False

    def __call__(self, function):
        def within(*args, **kwargs):
            with errstate(**self._settings):
                return function(*args, **kwargs)
        return within


def seterr(all=None, divide=None, over=None, under=None, invalid=None):
    before, given = dict(errors), {"divide": divide, "over": over, "under": under, "invalid": invalid}
    for kind, what in given.items():
        what = all if what is None else what
        if what is not None:
            errors[kind] = what
    return before


def geterr():
    return dict(errors)
