"""Polynomials as NumPy's functions have them: coefficients from the highest power down."""

import numpy as np


def vander(x, N=None, increasing=False):
    x = np._as(x)
    N = len(x) if N is None else N
    return np.stack([x ** (i if increasing else N - 1 - i) for i in range(N)], 1)


def polyfit(x, y, deg, rcond=None, full=False, w=None, cov=False):
    x, y = np._as(x).astype("float64"), np._as(y).astype("float64")
    if deg < 0:
        raise ValueError("expected deg >= 0")
    if x.ndim != 1:
        raise TypeError("expected 1D vector for x")
    if x.shape[0] != y.shape[0]:
        raise TypeError("expected x and y to have same length")
    columns, right = vander(x, deg + 1), y
    if w is not None:
        w = np._as(w).astype("float64")
        columns, right = columns * w[:, None], y * (w[:, None] if y.ndim == 2 else w)
    scale = np.sqrt(np.square(columns).sum(0))
    rcond = len(x) * 2.220446049250313e-16 if rcond is None else rcond
    made, left, rank, s = np.linalg.lstsq(columns / scale, right, rcond)
    made = (made.T / scale).T
    if rank != deg + 1 and not full:
        import warnings
        warnings.warn("Polyfit may be poorly conditioned", np.exceptions.RankWarning, stacklevel=2)
    if full:
        return made, left, rank, s, rcond
    if not cov:
        return made
    base = np.linalg.inv(columns.T @ columns)
    if cov == "unscaled":
        return made, base
    if len(x) <= deg + 1:
        raise ValueError("the number of data points must exceed order to scale the covariance matrix")
    return made, base * (left / (len(x) - deg - 1))


def polyval(p, x):
    if isinstance(x, poly1d):
        made = poly1d(0)
    else:
        x = x if isinstance(x, (int, float, complex)) else np._as(x)
        made = np.multiply(x, 0)
    for c in np._as(p.coeffs if isinstance(p, poly1d) else p):
        made = made * x + c
    return made


def _coefficients(p):
    return p.coeffs if isinstance(p, poly1d) else np.atleast_1d(np._as(p))


def _as_given(made, *given):
    return poly1d(made) if any([isinstance(p, poly1d) for p in given]) else made


def polyadd(a1, a2):
    a, b = _coefficients(a1), _coefficients(a2)
    n = max(len(a), len(b))
    return _as_given(np.pad(a, (n - len(a), 0)) + np.pad(b, (n - len(b), 0)), a1, a2)


def polysub(a1, a2):
    return _as_given(_coefficients(polyadd(_coefficients(a1), -_coefficients(a2))), a1, a2)


def polymul(a1, a2):
    return _as_given(np.convolve(_coefficients(a1), _coefficients(a2)), a1, a2)


def polydiv(u, v):
    a, b = _coefficients(u) * 1.0, _coefficients(v) * 1.0
    quotient = np.zeros(max(len(a) - len(b) + 1, 1))
    for i in range(len(a) - len(b) + 1):
        quotient[i] = a[i] / b[0]
        a[i:i + len(b)] = a[i:i + len(b)] - quotient[i] * b
    while len(a) > 1 and np.allclose(a[0], 0, rtol=1e-14):
        a = a[1:]
    return _as_given(quotient, u, v), _as_given(a, u, v)


def poly(seq_of_zeros):
    """The coefficients of the polynomial with these roots, or of a matrix's characteristic polynomial."""
    zeros = np._as(seq_of_zeros)
    zeros = np.linalg.eigvals(zeros) if zeros.ndim == 2 else zeros
    made = np.array([1.0])
    for root in zeros.tolist():
        made = np.array([1.0 * a - root * b for a, b in zip(made.tolist() + [0], [0] + made.tolist())])
    return made


def roots(p):
    p = np.trim_zeros(_coefficients(p), "f").astype("float64")
    inner = np.trim_zeros(p, "b")
    zeros, n = len(p) - len(inner), len(inner) - 1
    if n < 1:
        return np.zeros(max(zeros, 0))
    companion = np.eye(n, k=-1)
    companion[0] = -inner[1:] / inner[0]
    found = np.linalg.eigvals(companion)
    return np.concatenate([found, np.zeros(zeros)]) if zeros else found


def polyder(p, m=1):
    made = _coefficients(p)
    for _ in range(m):
        made = made[:-1] * np.arange(len(made) - 1, 0, -1)
    return _as_given(made, p)


def polyint(p, m=1, k=None):
    made = _coefficients(p)
    constants = [0] * m if k is None else [k] * m if np.ndim(k) == 0 else list(k)
    for c in constants:
        made = np.append(made / np.arange(len(made), 0, -1), c)
    return _as_given(made, p)


class poly1d:
    __array_priority__ = 1

    def __init__(self, c_or_r, r=False, variable="x"):
        c = c_or_r.coeffs if isinstance(c_or_r, poly1d) else np.atleast_1d(np._as(c_or_r))
        c = poly(c) if r else c
        c = np.trim_zeros(c, "f") if len(c) else c
        self.coeffs, self.variable = c if len(c) else np.zeros(1, c.dtype), variable

    c = coef = coefficients = property(lambda self: self.coeffs)
    order = o = property(lambda self: len(self.coeffs) - 1)
    r = roots = property(lambda self: roots(self.coeffs))

    def __call__(self, x):
        return polyval(self.coeffs, x)

    def __getitem__(self, power):
        return self.coeffs[self.order - power] if 0 <= power <= self.order else 0

    def __len__(self):
        return self.order

    def __iter__(self):
        return iter(self.coeffs)

    def __array__(self, dtype=None):
        return self.coeffs

    def deriv(self, m=1):
        return polyder(self, m)

    def integ(self, m=1, k=0):
        return polyint(self, m, k)

    def __neg__(self):
        return poly1d(-self.coeffs)

    def __add__(self, other):
        return polyadd(self, other)

    def __sub__(self, other):
        return polysub(self, other)

    def __rsub__(self, other):
        return polysub(other, self)

    def __mul__(self, other):
        return poly1d(self.coeffs * other) if np.isscalar(other) else polymul(self, other)

    __radd__, __rmul__ = __add__, __mul__

    def __truediv__(self, other):
        return poly1d(self.coeffs / other) if np.isscalar(other) else polydiv(self, other)

    def __pow__(self, power):
        made = poly1d([1])
        for _ in range(power):
            made = made * self
        return made

    def __eq__(self, other):
        return isinstance(other, poly1d) and np.array_equal(self.coeffs, other.coeffs)

    __hash__ = None

    def __repr__(self):
        return f"poly1d({np.array_repr(self.coeffs)[6:-1].split(', dtype')[0]})"

    def __str__(self):
        above, below = "", ""
        for i, c in enumerate(self.coeffs.tolist()):
            power, text = self.order - i, f"{abs(c):.4g}"
            if not c and self.order:
                continue
            sign = (" - " if c < 0 else " + ") if below else "-" if c < 0 else ""
            below += sign + text + (" " + self.variable) * bool(power)
            if power > 1:
                above = above.ljust(len(below)) + str(power)
                below = below.ljust(len(above) - 1)
        return f"{above or ' '}\n{below.rstrip()}"
