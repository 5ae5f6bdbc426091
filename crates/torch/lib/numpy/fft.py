"""numpy.fft."""

import math
import numpy as np


def _turn(i, n):
    """A part of a turn, by an angle of at most an eighth: what adds up to nothing does, and quarters and thirds are what they are."""
    quarter, rest = divmod(4 * i, n)
    near = rest if 2 * rest <= n else n - rest
    angle = math.pi * near / (2 * n)
    # Thirds and fifths, whose last digit decides whether what is equal cancels.
    real, imag = math.cos(angle), 0.5 if 3 * near == n else 0.30901699437494745 if 5 * near == n else math.sin(angle)
    real, imag = (real, imag) if near == rest else (imag, real)
    return complex(*((real, imag), (-imag, real), (-real, -imag), (imag, -real))[quarter % 4])


def _few(v, sign):
    """The sums of few values. Those that lie opposite are taken together, so that what is equal cancels."""
    p = len(v)
    if p == 2:
        return [v[0] + v[1], v[0] - v[1]]
    if p == 4:
        even, odd, other = v[0] + v[2], v[1] + v[3], (v[1] - v[3]) * (sign * 1j)
        apart = v[0] - v[2]
        return [even + odd, apart + other, even - odd, apart - other]
    half = range(1, (p + 1) // 2)
    sums, apart = [v[i] + v[p - i] for i in half], [v[i] - v[p - i] for i in half]
    made = [v[0]] * p
    for s in sums:
        made[0] = made[0] + s
    turns = [_turn(i, p) for i in range(p)]
    for k in half:
        real, turned = v[0], 0j
        for i in half:
            turn = turns[i * k % p]
            real, turned = real + turn.real * sums[i - 1], turned + turn.imag * apart[i - 1]
        turned = turned * (sign * 1j)
        made[k], made[p - k] = real + turned, real - turned
    return made


def _transform(x, sign):
    """Cooley and Tukey, 1965; lengths that are no power of two by their factors."""
    n = len(x)
    if n <= 1:
        return x
    p = 4 if n % 4 == 0 else next((p for p in range(2, n + 1) if n % p == 0))
    if p == n:
        return _few(x, sign)
    turns = [_turn(sign * k % n, n) for k in range(n)]
    parts, m, made = [_transform(x[i::p], sign) for i in range(p)], n // p, [0j] * n
    for k in range(m):
        made[k::m] = _few([parts[0][k]] + [parts[i][k] * turns[i * k % n] for i in range(1, p)], sign)
    return made


def _along(a, n, axis, norm, function):
    a = np.asarray(a)
    if a.ndim > 1:
        rows = np.moveaxis(a, axis, -1).reshape(-1, a.shape[axis]).tolist()
        made = np.array([_along(row, n, -1, norm, function).tolist() for row in rows])
        made = made.reshape(*[s for d, s in enumerate(a.shape) if d != axis % a.ndim], -1)
        return np.moveaxis(made, -1, axis)
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


def _over(function):
    """A transform along several axes, the last first."""
    def several(a, s=None, axes=None, norm=None):
        axes = list(range(-len(s) if s is not None else -np.ndim(a), 0)) if axes is None else list(axes)
        sizes = [None] * len(axes) if s is None else list(s)
        for n, axis in list(zip(sizes, axes))[::-1]:
            a = function(a, n, axis, norm)
        return a
    return several


fftn, ifftn = _over(fft), _over(ifft)


def fft2(a, s=None, axes=(-2, -1), norm=None):
    return fftn(a, s, axes, norm)


def ifft2(a, s=None, axes=(-2, -1), norm=None):
    return ifftn(a, s, axes, norm)


def rfftn(a, s=None, axes=None, norm=None):
    axes = list(range(-len(s) if s is not None else -np.ndim(a), 0)) if axes is None else list(axes)
    sizes = [None] * len(axes) if s is None else list(s)
    return fftn(rfft(a, sizes[-1], axes[-1], norm), s if s is None else sizes[:-1], axes[:-1], norm)


def irfftn(a, s=None, axes=None, norm=None):
    axes = list(range(-len(s) if s is not None else -np.ndim(a), 0)) if axes is None else list(axes)
    sizes = [None] * len(axes) if s is None else list(s)
    return irfft(ifftn(a, s if s is None else sizes[:-1], axes[:-1], norm), sizes[-1], axes[-1], norm)


def rfft2(a, s=None, axes=(-2, -1), norm=None):
    sizes = [None, None] if s is None else s
    return fft(rfft(a, sizes[1], axes[1], norm), sizes[0], axes[0], norm)


def irfft2(a, s=None, axes=(-2, -1), norm=None):
    sizes = [None, None] if s is None else s
    return irfft(ifft(a, sizes[0], axes[0], norm), sizes[1], axes[1], norm)


def fftfreq(n, d=1.0):
    return np.concatenate([np.arange((n + 1) // 2), np.arange(-(n // 2), 0)]) / (n * d)


def rfftfreq(n, d=1.0):
    return np.arange(n // 2 + 1) / (n * d)


def _shifted(x, axes, sign):
    x = np.asarray(x)
    axes = list(range(x.ndim)) if axes is None else [axes] if isinstance(axes, int) else list(axes)
    return np.roll(x, [sign * (x.shape[d] // 2) for d in axes], axes)


def fftshift(x, axes=None):
    return _shifted(x, axes, 1)


def ifftshift(x, axes=None):
    return _shifted(x, axes, -1)
