"""Filters."""

import numpy as np
import _missing


def lfilter(b, a, x, axis=-1):
    """The output of a rational filter, step by step along an axis (direct form II transposed)."""
    b, a = [float(v) for v in b], [float(v) for v in a]
    n = max(len(a), len(b))
    b, a = [v / a[0] for v in b] + [0.0] * (n - len(b)), [v / a[0] for v in a] + [0.0] * (n - len(a))
    x = np.array(x, np.float64)
    moved = np.moveaxis(x, axis, 0) if x.ndim > 1 else x
    state, out = [moved[0] * 0 for _ in range(n)], []
    for value in moved:
        made = b[0] * value + state[0]
        state = [state[i] + b[i] * value - a[i] * made for i in range(1, n)] + [value * 0]
        out.append(made)
    out = np.stack(out) if x.ndim > 1 else np.array(out)
    return np.moveaxis(out, 0, axis) if x.ndim > 1 else out


def get_window(window, Nx, fftbins=True):
    from scipy.signal.windows import get_window
    return get_window(window, Nx, fftbins)


__getattr__ = _missing.names("scipy.signal", globals())
