"""Windows of signals (scipy.signal.windows)."""

import numpy as np
import _missing


def general_cosine(M, a, sym=True):
    """A sum of cosines; of the periodic form, whose last point is the next one's first, one point is dropped."""
    if M < 2:
        return np.ones(max(M, 0))
    angle = np.linspace(-np.pi, np.pi, M if sym else M + 1)
    made = sum([weight * np.cos(k * angle) for k, weight in enumerate(a)])
    return made if sym else made[:-1]


def general_hamming(M, alpha, sym=True):
    return general_cosine(M, [alpha, 1.0 - alpha], sym)


def hamming(M, sym=True):
    return general_hamming(M, 0.54, sym)


def hann(M, sym=True):
    return general_hamming(M, 0.5, sym)


def blackman(M, sym=True):
    return general_cosine(M, [0.42, 0.50, 0.08], sym)


def nuttall(M, sym=True):
    return general_cosine(M, [0.3635819, 0.4891775, 0.1365995, 0.0106411], sym)


def blackmanharris(M, sym=True):
    return general_cosine(M, [0.35875, 0.48829, 0.14128, 0.01168], sym)


def flattop(M, sym=True):
    return general_cosine(M, [0.21557895, 0.41663158, 0.277263158, 0.083578947, 0.006947368], sym)


def _shaped(formula):
    """A window of a formula for its points, which are told how many there are."""
    def window(M, *args, sym=True, **kwargs):
        if M < 2:
            return np.ones(max(M, 0))
        points = M if sym else M + 1
        made = formula(np.arange(points) * 1.0, points, *args, **kwargs)
        return made if sym else made[:M]
    return window


boxcar = _shaped(lambda n, M: np.ones(M))
bartlett = _shaped(lambda n, M: 1.0 - np.abs(2.0 * n / (M - 1) - 1.0))
triang = _shaped(lambda n, M: 1.0 - np.abs(2.0 * n - (M - 1)) / (M + M % 2))
parzen = _shaped(lambda n, M: _parzen(np.abs(n - (M - 1) / 2.0), M / 2.0))
bohman = _shaped(lambda n, M: _bohman(np.abs(2.0 * n / (M - 1) - 1.0)))
cosine = _shaped(lambda n, M: np.sin(np.pi / M * (n + 0.5)))
gaussian = _shaped(lambda n, M, std: np.exp(-((n - (M - 1) / 2.0) ** 2) / (2.0 * std * std)))
general_gaussian = _shaped(lambda n, M, p, sig: np.exp(-0.5 * np.abs((n - (M - 1) / 2.0) / sig) ** (2 * p)))
kaiser = _shaped(lambda n, M, beta: np.kaiser(M, beta))
exponential = _shaped(lambda n, M, center=None, tau=1.0: np.exp(-np.abs(n - ((M - 1) / 2.0 if center is None else center)) / tau))
tukey = _shaped(lambda n, M, alpha=0.5: _tukey(n, M, alpha))


def _parzen(away, half):
    inner = 1.0 - 6.0 * (away / half) ** 2 * (1.0 - away / half)
    return np.where(away <= (half * 2 - 1) / 4.0, inner, 2.0 * (1.0 - away / half) ** 3)


def _bohman(x):
    made = (1.0 - x) * np.cos(np.pi * x) + np.sin(np.pi * x) / np.pi
    return np.where(x >= 1.0, 0.0, made)


def _tukey(n, M, alpha):
    if alpha <= 0:
        return np.ones(M)
    edge = alpha * (M - 1) / 2.0
    near = np.minimum(n, M - 1 - n)
    return np.where(near < min(edge, (M - 1) / 2.0 + 1), 0.5 * (1.0 - np.cos(np.pi * np.minimum(near / edge, 1.0))), 1.0)


_NAMES = {"hanning": "hann", "ham": "hamming", "han": "hann", "black": "blackman", "box": "boxcar", "rect": "boxcar", "ones": "boxcar",
          "rectangular": "boxcar", "tri": "triang", "triangle": "triang", "bart": "bartlett", "gauss": "gaussian", "tuk": "tukey", "ksr": "kaiser"}


def get_window(window, Nx, fftbins=True):
    """A window by its name, or by its name and its numbers; periodic unless told otherwise."""
    if isinstance(window, (int, float)):
        window = ("kaiser", window)
    name, *args = (window,) if isinstance(window, str) else window
    found = globals().get(_NAMES.get(name, name))
    if found is None or name.startswith("_"):
        raise ValueError("Unknown window type.")
    return found(Nx, *args, sym=not fftbins)


__getattr__ = _missing.names("scipy.signal.windows", globals())
