"""numpy.fft of one dimension."""

import cmath
import numpy as np


def _transform(x, sign):
    """Cooley and Tukey, 1965; lengths that are no power of two by their factors, primes by the sum itself."""
    n = len(x)
    if n <= 1:
        return x
    p = next((p for p in range(2, n + 1) if n % p == 0))
    # Quarters of a turn are what they are.
    turns = [(1, sign * 1j, -1, sign * -1j)[4 * k // n] if 4 * k % n == 0 else cmath.exp(sign * 2j * cmath.pi * k / n) for k in range(n)]
    parts, m = [_transform(x[i::p], sign) for i in range(p)] if p < n else [[v] for v in x], n // p
    return [sum([parts[i][k % m] * turns[i * k % n] for i in range(p)]) for k in range(n)]


def _along(a, n, axis, norm, function):
    a = np.asarray(a)
    if a.ndim > 1:
        rows = np.moveaxis(a, axis, -1).reshape(-1, a.shape[axis]).tolist()
        made = np.array([_along(row, n, -1, norm, function).tolist() for row in rows])
        return made.reshape(*[s for d, s in enumerate(a.shape) if d != axis % a.ndim], -1)
    values = [complex(v) for v in a.tolist()]
    return np.array(function(values, n, norm))


def _scaled(values, sign, norm):
    n = len(values)
    share = {"ortho": n ** -0.5, "forward": 1.0 if sign > 0 else 1 / n}.get(norm, 1 / n if sign > 0 else 1.0)
    return [v * share for v in _transform(values, sign)]


def _cut(values, n):
    return values if n is None else (values + [0j] * n)[:n]


def fft(a, n=None, axis=-1, norm=None):
    return _along(a, n, axis, norm, lambda v, n, norm: _scaled(_cut(v, n), -1, norm))


def ifft(a, n=None, axis=-1, norm=None):
    return _along(a, n, axis, norm, lambda v, n, norm: _scaled(_cut(v, n), 1, norm))


def rfft(a, n=None, axis=-1, norm=None):
    return _along(a, n, axis, norm, lambda v, n, norm: _scaled(_cut(v, n), -1, norm)[:(n or len(v)) // 2 + 1])


def irfft(a, n=None, axis=-1, norm=None):
    def back(v, n, norm):
        n = 2 * (len(v) - 1) if n is None else n
        half = _cut(v, n // 2 + 1)
        return [w.real for w in _scaled(half + [w.conjugate() for w in half[(n - 1) // 2:0:-1]], 1, norm)]
    return _along(a, n, axis, norm, back)


def fftfreq(n, d=1.0):
    return np.concatenate([np.arange((n + 1) // 2), np.arange(-(n // 2), 0)]) / (n * d)


def rfftfreq(n, d=1.0):
    return np.arange(n // 2 + 1) / (n * d)


def fftshift(x, axes=None):
    return np.roll(x, np.shape(x)[-1] // 2, -1 if axes is None else axes)


def ifftshift(x, axes=None):
    return np.roll(x, -(np.shape(x)[-1] // 2), -1 if axes is None else axes)
