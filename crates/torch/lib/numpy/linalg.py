"""numpy.linalg: norms."""

import math
import numpy as np


class LinAlgError(ValueError):
    pass


def norm(x, ord=None, axis=None, keepdims=False):
    x = np._as(x)
    if ord in (None, 2, "fro") and (ord is None or x.ndim == 1 or axis is not None or ord == "fro"):
        return np.sqrt(np.square(x).sum(axis, keepdims=keepdims))
    if x.ndim > 1 and axis is None:
        raise NotImplementedError(f"numpy.linalg.norm(ord={ord}) of a matrix")
    if ord == math.inf:
        return np.absolute(x).max(axis, keepdims=keepdims)
    if ord == 1:
        return np.absolute(x).sum(axis, keepdims=keepdims)
    return (np.absolute(x) ** ord).sum(axis, keepdims=keepdims) ** (1.0 / ord)


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(f"module 'numpy.linalg' has no attribute '{name}'")
    raise NotImplementedError(f"numpy.linalg.{name} is not there")
