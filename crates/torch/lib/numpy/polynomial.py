"""numpy.polynomial: power series, coefficients from the lowest power up."""

import numpy as np
import sys

polynomial = sys.modules[__name__]


def _series(c):
    c = np.atleast_1d(np._as(c.coef if isinstance(c, Polynomial) else c))
    return c if c.dtype.kind in "fc" else c.astype("float64")


def polytrim(c, tol=0):
    c = _series(c)
    there = (np.absolute(c) > tol).nonzero()[0]
    return c[:int(there[-1]) + 1] if there.size else c[:1] * 0


def polyval(x, c, tensor=True):
    c, made = _series(c), 0.0
    x = np._as(x) if isinstance(x, (list, tuple, np.ndarray)) else x
    if tensor and np.ndim(c) > 1 and np.ndim(x):
        c = c.reshape(c.shape + (1,) * x.ndim)
    for a in c[::-1]:
        made = made * x + a
    return made + np.multiply(x, 0)


def polyadd(c1, c2):
    a, b = _series(c1), _series(c2)
    n = max(len(a), len(b))
    return polytrim(np.pad(a, (0, n - len(a))) + np.pad(b, (0, n - len(b))))


def polysub(c1, c2):
    return polyadd(c1, -_series(c2))


def polymul(c1, c2):
    return polytrim(np.convolve(_series(c1), _series(c2)))


def polydiv(c1, c2):
    quotient, rest = np.polydiv(_series(c1)[::-1], _series(c2)[::-1])
    return quotient[::-1], polytrim(rest[::-1])


def polypow(c, pow, maxpower=None):
    made = np.ones(1)
    for _ in range(pow):
        made = polymul(made, c)
    return made


def polyder(c, m=1, scl=1, axis=0):
    c = _series(c)
    for _ in range(m):
        c = scl * c[1:] * np.arange(1, len(c)) if len(c) > 1 else c[:1] * 0
    return c


def polyint(c, m=1, k=(), lbnd=0, scl=1, axis=0):
    c, constants = _series(c), list(np.atleast_1d(k)) if np.size(k) else []
    for i in range(m):
        made = np.concatenate([np.zeros(1), scl * c / np.arange(1, len(c) + 1)])
        made[0] = (constants[i] if i < len(constants) else 0) - polyval(lbnd, made)
        c = made
    return c


def polyroots(c):
    return np.sort(np.roots(polytrim(c)[::-1]))


def polyfromroots(roots):
    return np.poly(roots)[::-1]


def polyvander(x, deg):
    return np._as(x).astype("float64")[..., None] ** np.arange(deg + 1)


def polyfit(x, y, deg, rcond=None, full=False, w=None):
    if np.ndim(deg):
        raise NotImplementedError("numpy.polynomial.polynomial.polyfit of chosen degrees")
    made = np.polyfit(x, y, deg, rcond, full, w)
    return (made[0][::-1], list(made[1:])) if full else made[::-1]


class Polynomial:
    """A power series on a domain that is mapped to a window."""

    __array_priority__ = 1
    domain = window = np.array([-1.0, 1.0])

    def __init__(self, coef, domain=None, window=None, symbol="x"):
        self.coef, self.symbol = _series(coef), symbol
        if domain is not None:
            self.domain = np._as(domain).astype("float64")
        if window is not None:
            self.window = np._as(window).astype("float64")

    def _map(self):
        """What is added and multiplied to go from the domain to the window."""
        (a, b), (c, d) = self.domain.tolist(), self.window.tolist()
        return (b * c - a * d) / (b - a), (d - c) / (b - a)

    def _like(self, coef):
        return Polynomial(coef, self.domain, self.window, self.symbol)

    def _other(self, other):
        if isinstance(other, Polynomial) and not (np.array_equal(self.domain, other.domain) and np.array_equal(self.window, other.window)):
            raise TypeError("Domains differ")
        return other

    def __call__(self, arg):
        offset, scale = self._map()
        return polyval(offset + scale * (np._as(arg) if isinstance(arg, (list, tuple)) else arg), self.coef)

    def __len__(self):
        return len(self.coef)

    def __iter__(self):
        return iter(self.coef)

    def degree(self):
        return len(self.coef) - 1

    def convert(self, domain=None, kind=None, window=None):
        offset, scale = self._map()
        made = np.zeros(1)
        for c in self.coef[::-1]:
            made = polyadd(polymul(made, [offset, scale]), [c])
        if kind is not None and kind is not Polynomial or domain is not None:
            raise NotImplementedError("numpy.polynomial.Polynomial.convert to another kind or domain")
        return Polynomial(made, symbol=self.symbol)

    def roots(self):
        offset, scale = self._map()
        return (polyroots(self.coef) - offset) / scale

    def deriv(self, m=1):
        return self._like(polyder(self.coef, m, self._map()[1]))

    def integ(self, m=1, k=(), lbnd=None):
        offset, scale = self._map()
        return self._like(polyint(self.coef, m, k, 0 if lbnd is None else offset + scale * lbnd, 1.0 / scale))

    def trim(self, tol=0):
        return self._like(polytrim(self.coef, tol))

    def linspace(self, n=100, domain=None):
        x = np.linspace(*(self.domain if domain is None else domain), n)
        return x, self(x)

    @classmethod
    def fit(cls, x, y, deg, domain=None, rcond=None, full=False, w=None, window=None, symbol="x"):
        x = np._as(x).astype("float64")
        domain = [float(x.min()), float(x.max())] if domain is None else domain
        made = cls([0], domain, window, symbol)
        offset, scale = made._map()
        found = polyfit(offset + scale * x, y, deg, rcond, full, w)
        return (made._like(found[0]), found[1]) if full else made._like(found)

    @classmethod
    def fromroots(cls, roots, domain=(-1, 1), window=None, symbol="x"):
        return cls(polyfromroots(roots), domain, window, symbol)

    def __neg__(self):
        return self._like(-self.coef)

    def __add__(self, other):
        return self._like(polyadd(self.coef, self._other(other)))

    def __sub__(self, other):
        return self._like(polysub(self.coef, self._other(other)))

    def __rsub__(self, other):
        return self._like(polysub(other, self.coef))

    def __mul__(self, other):
        return self._like(polymul(self.coef, self._other(other)))

    __radd__, __rmul__ = __add__, __mul__

    def __truediv__(self, other):
        return self._like(self.coef / other)

    def __floordiv__(self, other):
        return self._like(polydiv(self.coef, self._other(other))[0])

    def __mod__(self, other):
        return self._like(polydiv(self.coef, self._other(other))[1])

    def __pow__(self, other):
        return self._like(polypow(self.coef, other))

    def __eq__(self, other):
        return isinstance(other, Polynomial) and np.array_equal(self.coef, other.coef) and np.array_equal(self.domain, other.domain)

    __hash__ = None

    def __repr__(self):
        parts = [np.array_repr(v)[6:-1] for v in (self.coef, self.domain, self.window)]
        return f"Polynomial({parts[0]}, domain={parts[1]}, window={parts[2]}, symbol='{self.symbol}')"

    def __str__(self):
        offset, scale = self._map()
        inner = self.symbol if (offset, scale) == (0, 1) else f"({offset} + {scale}{self.symbol})" if offset else f"({scale}{self.symbol})"
        made = ""
        for i, c in enumerate(self.coef.tolist()):
            sign = (" - " if c < 0 else " + ") if made else "-" if c < 0 else ""
            power = "" if not i else "·" + inner + ("" if i == 1 else str(i).translate(str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")))
            made += f"{sign}{abs(c)}{power}"
        return made
