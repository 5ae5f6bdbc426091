"""numpy.lib, and its stride_tricks: arrays that see others' elements in another shape."""

import _numpy
import numpy as np
import sys

stride_tricks = sys.modules[__name__]


def as_strided(x, shape=None, strides=None, subok=False, writeable=True):
    x = np._as(x)
    steps = x.strides if strides is None else strides
    if any([s % x.itemsize for s in steps]):
        raise NotImplementedError("numpy.lib.stride_tricks.as_strided with strides that are no multiples of the element's size")
    return _numpy.strided(x, x.shape if shape is None else shape, [s // x.itemsize for s in steps])


def sliding_window_view(x, window_shape, axis=None, *, subok=False, writeable=False):
    x = np._as(x)
    window = (window_shape,) if isinstance(window_shape, int) else tuple(window_shape)
    axes = range(x.ndim) if axis is None else [np._axis_of(d, x.ndim) for d in (axis if isinstance(axis, (tuple, list)) else [axis])]
    if len(axes) != len(window):
        raise ValueError("Since axis is None, must provide window_shape for all dimensions of `x`" if axis is None else
                         "Must provide matching length window_shape and axis")
    shape = list(x.shape)
    for d, n in zip(axes, window):
        if n < 0:
            raise ValueError("`window_shape` cannot contain negative values")
        shape[d] -= n - 1
        if shape[d] < 0 or shape[d] == 0 and x.shape[d] < n:
            raise ValueError("window shape cannot be larger than input array shape")
    steps = _numpy.strides(x)
    return _numpy.strided(x, tuple(shape) + window, tuple(steps) + tuple([steps[d] for d in axes]))


broadcast_to, broadcast_arrays, broadcast_shapes = np.broadcast_to, np.broadcast_arrays, np.broadcast_shapes
