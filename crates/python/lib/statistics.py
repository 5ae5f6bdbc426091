"""Means and spreads."""
import math as _math
import random as _random
from collections import Counter as _Counter


class StatisticsError(ValueError):
    pass


def _exact(data):
    # The sum as a fraction of integers, and the count; the kind says what the result is.
    top, bottom, n, real = 0, 1, 0, False
    for x in data:
        n += 1
        if isinstance(x, float):
            real = True
            if x != x or x in (_math.inf, -_math.inf):
                return x, None, n + sum(1 for _ in data), True
        if not hasattr(x, "as_integer_ratio"):
            raise TypeError(f"can't convert type '{type(x).__name__}' to numerator/denominator")
        a, b = x.as_integer_ratio()
        top, bottom = top * b + a * bottom, bottom * b
        if bottom > 1:
            g = _math.gcd(top, bottom)
            top, bottom = top // g, bottom // g
    return top, bottom, n, real


def _like(values, found):
    """A result of the kind that the values are of: that of the first Decimal or Fraction."""
    for x in values:
        if type(x).__name__ in ("Decimal", "Fraction"):
            return type(x)(found[0]) / type(x)(found[1])
    return None


def _ratio(top, bottom, real=True):
    if not real and top % bottom == 0:
        return top // bottom
    return top / bottom


def mean(data):
    values = list(data)
    if not values:
        raise StatisticsError("mean requires at least one data point")
    top, bottom, n, real = _exact(values)
    if bottom is None:
        return sum(values) / n
    for x in values:
        if hasattr(x, "limit_denominator") or hasattr(x, "as_tuple"):
            return type(x)(top) / type(x)(bottom * n)
    return _ratio(top, bottom * n, real)


def fmean(data, weights=None):
    values = list(data)
    if weights is not None:
        weights = list(weights)
        if len(weights) != len(values):
            raise StatisticsError("data and weights must be the same length")
        total = _math.fsum(weights)
        if not total:
            raise StatisticsError("sum of weights must be non-zero")
        return _math.fsum([v * w for v, w in zip(values, weights)]) / total
    if not values:
        raise StatisticsError("fmean requires at least one data point")
    return _math.fsum(values) / len(values)


def geometric_mean(data):
    values = [float(x) for x in data]
    if not values:
        raise StatisticsError("must have a non-empty dataset")
    if any(x < 0 for x in values):
        raise StatisticsError("No negative inputs allowed")
    if 0.0 in values:
        return 0.0
    return _math.exp(_math.fsum([_math.log(x) for x in values]) / len(values))


def harmonic_mean(data, weights=None):
    values = list(data)
    if not values:
        raise StatisticsError("harmonic_mean requires at least one data point")
    weights = [1] * len(values) if weights is None else list(weights)
    if any(v < 0 for v in values):
        raise StatisticsError("harmonic mean does not support negative values")
    if 0 in values:
        return 0
    top, bottom = 0, 1
    for w, v in zip(weights, values):
        a, b = v.as_integer_ratio()
        c, d = w.as_integer_ratio()
        top, bottom = top * a * d + c * b * bottom, bottom * a * d
    c, d, _, _ = _exact(weights)
    return _ratio(c * bottom, d * top, any(isinstance(v, float) for v in values) or True)


def median(data):
    values = sorted(data)
    n = len(values)
    if not n:
        raise StatisticsError("no median for empty data")
    return values[n // 2] if n % 2 else (values[n // 2 - 1] + values[n // 2]) / 2


def median_low(data):
    values = sorted(data)
    if not values:
        raise StatisticsError("no median for empty data")
    return values[(len(values) - 1) // 2]


def median_high(data):
    values = sorted(data)
    if not values:
        raise StatisticsError("no median for empty data")
    return values[len(values) // 2]


def median_grouped(data, interval=1.0):
    from bisect import bisect_left, bisect_right
    data = sorted(data)
    if not data:
        raise StatisticsError("no median for empty data")
    x = data[len(data) // 2]
    low = bisect_left(data, x)
    count = bisect_right(data, x, low) - low
    try:
        x, interval = float(x), float(interval)
    except ValueError:
        raise TypeError("Value cannot be converted to a float") from None
    return x - interval / 2.0 + interval * (len(data) / 2 - low) / count


def mode(data):
    counts = _Counter(iter(data)).most_common(1)
    if not counts:
        raise StatisticsError("no mode for empty data")
    return counts[0][0]


def multimode(data):
    counts = _Counter(iter(data))
    most = max(counts.values(), default=0)
    return [v for v, n in counts.items() if n == most]


def _squares(data, center=None):
    # The sum of squared deviations as an exact fraction, with the count.
    values = list(data)
    if center is not None:
        a, b = center.as_integer_ratio()
    else:
        a, b, n, _ = _exact(values)
        b *= n
    top, bottom, n, real = 0, 1, 0, False
    for x in values:
        n += 1
        real = real or isinstance(x, float)
        c, d = x.as_integer_ratio()
        t, u = c * b - a * d, d * b
        t, u = t * t, u * u
        top, bottom = top * u + t * bottom, bottom * u
        g = _math.gcd(top, bottom)
        top, bottom = top // g, bottom // g
    return top, bottom, n, real


def _root(top, bottom):
    # sqrt(top / bottom) correctly rounded: an integer root with bits to spare, made odd where it is inexact.
    if not top:
        return 0.0
    q = (top.bit_length() - bottom.bit_length() - 109) // 2
    if q >= 0:
        a, b = top, bottom << 2 * q
    else:
        a, b = top << -2 * q, bottom
    r = _math.isqrt(a // b)
    if r * r * b != a:
        r |= 1
    return (r << q) / 1 if q >= 0 else r / (1 << -q)


def variance(data, xbar=None):
    values = list(data)
    if len(values) < 2:
        raise StatisticsError("variance requires at least two data points")
    top, bottom, n, real = _squares(values, xbar)
    special = _like(values, (top, bottom * (n - 1)))
    return special if special is not None else _ratio(top, bottom * (n - 1), real)


def pvariance(data, mu=None):
    values = list(data)
    if not values:
        raise StatisticsError("pvariance requires at least one data point")
    top, bottom, n, real = _squares(values, mu)
    special = _like(values, (top, bottom * n))
    return special if special is not None else _ratio(top, bottom * n, real)


def stdev(data, xbar=None):
    values = list(data)
    if len(values) < 2:
        raise StatisticsError("stdev requires at least two data points")
    top, bottom, n, _ = _squares(values, xbar)
    return _root(top, bottom * (n - 1))


def pstdev(data, mu=None):
    values = list(data)
    if not values:
        raise StatisticsError("pstdev requires at least one data point")
    top, bottom, n, _ = _squares(values, mu)
    return _root(top, bottom * n)


def quantiles(data, *, n=4, method="exclusive"):
    if n < 1:
        raise StatisticsError("n must be at least 1")
    data = sorted(data)
    ld = len(data)
    if ld < 2:
        raise StatisticsError("must have at least two data points")
    result = []
    if method == "inclusive":
        for i in range(1, n):
            j, delta = divmod(i * (ld - 1), n)
            result.append((data[j] * (n - delta) + data[j + 1] * delta) / n)
        return result
    if method == "exclusive":
        m = ld + 1
        for i in range(1, n):
            j = min(max(i * m // n, 1), ld - 1)
            delta = i * m - j * n
            result.append((data[j - 1] * (n - delta) + data[j] * delta) / n)
        return result
    raise ValueError(f"Unknown method: {method!r}")


def covariance(x, y, /):
    n = len(x)
    if len(y) != n:
        raise StatisticsError("covariance requires that both inputs have same number of data points")
    if n < 2:
        raise StatisticsError("covariance requires at least two data points")
    xbar, ybar = _math.fsum(x) / n, _math.fsum(y) / n
    return _math.fsum([(a - xbar) * (b - ybar) for a, b in zip(x, y)]) / (n - 1)


def correlation(x, y, /):
    n = len(x)
    if len(y) != n:
        raise StatisticsError("correlation requires that both inputs have same number of data points")
    if n < 2:
        raise StatisticsError("correlation requires at least two data points")
    xbar, ybar = _math.fsum(x) / n, _math.fsum(y) / n
    x, y = [a - xbar for a in x], [b - ybar for b in y]
    sxy = _math.fsum([a * b for a, b in zip(x, y)])
    sxx, syy = _math.fsum([a * a for a in x]), _math.fsum([b * b for b in y])
    if not sxx or not syy:
        raise StatisticsError("at least one of the inputs is constant")
    return sxy / _math.sqrt(sxx * syy)


def linear_regression(x, y, /, *, proportional=False):
    from collections import namedtuple
    n = len(x)
    if len(y) != n:
        raise StatisticsError("linear regression requires that both inputs have same number of data points")
    if n < 2:
        raise StatisticsError("linear regression requires at least two data points")
    xbar, ybar = (0.0, 0.0) if proportional else (_math.fsum(x) / n, _math.fsum(y) / n)
    sxx = _math.fsum([(a - xbar) ** 2 for a in x])
    if not sxx:
        raise StatisticsError("x is constant")
    slope = _math.fsum([(a - xbar) * (b - ybar) for a, b in zip(x, y)]) / sxx
    return namedtuple("LinearRegression", "slope intercept")(slope, ybar - slope * xbar)


class NormalDist:
    def __init__(self, mu=0.0, sigma=1.0):
        if sigma < 0.0:
            raise StatisticsError("sigma must be non-negative")
        self.mean, self.stdev = float(mu), float(sigma)

    @classmethod
    def from_samples(cls, data):
        return cls(mean(data), stdev(data))

    def samples(self, n, *, seed=None):
        import random
        gauss = (random if seed is None else random.Random(seed)).gauss
        return [gauss(self.mean, self.stdev) for _ in range(n)]

    def zscore(self, x):
        if not self.stdev:
            raise StatisticsError("zscore() not defined when sigma is zero")
        return (x - self.mean) / self.stdev

    median = mode = property(lambda self: self.mean)
    variance = property(lambda self: self.stdev ** 2)

    def pdf(self, x):
        return _math.exp(-0.5 * ((x - self.mean) / self.stdev) ** 2) / (self.stdev * _math.sqrt(2 * _math.pi))

    def cdf(self, x):
        return 0.5 * _math.erfc((self.mean - x) / (self.stdev * _math.sqrt(2)))

    def inv_cdf(self, p):
        """By halving, in the tail below the mean, where the cumulative function is known to its last digits."""
        if not 0.0 < p < 1.0:
            raise StatisticsError("p must be in the range 0.0 < p < 1.0")
        q = p if p <= 0.5 else 1.0 - p
        low, high = -40.0, 0.0
        for _ in range(80):
            middle = (low + high) / 2
            low, high = (middle, high) if 0.5 * _math.erfc(-middle / _math.sqrt(2)) < q else (low, middle)
        return self.mean + (high if p <= 0.5 else -high) * self.stdev

    def overlap(self, other):
        x, y = (self, other) if (self.stdev, self.mean) <= (other.stdev, other.mean) else (other, self)
        between, apart = y.variance - x.variance, abs(y.mean - x.mean)
        if not between:
            return 1.0 - _math.erf(apart / (2.0 * x.stdev * _math.sqrt(2)))
        a = x.mean * y.variance - y.mean * x.variance
        b = x.stdev * y.stdev * _math.sqrt(apart * apart + between * _math.log(y.variance / x.variance))
        low, high = (a + b) / between, (a - b) / between
        return 1.0 - (abs(y.cdf(low) - x.cdf(low)) + abs(y.cdf(high) - x.cdf(high)))

    def quantiles(self, n=4):
        return [self.inv_cdf(i / n) for i in range(1, n)]

    def __add__(self, other):
        if isinstance(other, NormalDist):
            return NormalDist(self.mean + other.mean, _math.hypot(self.stdev, other.stdev))
        return NormalDist(self.mean + other, self.stdev)

    def __sub__(self, other):
        if isinstance(other, NormalDist):
            return NormalDist(self.mean - other.mean, _math.hypot(self.stdev, other.stdev))
        return NormalDist(self.mean - other, self.stdev)

    def __mul__(self, other):
        return NormalDist(self.mean * other, self.stdev * abs(other))

    def __truediv__(self, other):
        return NormalDist(self.mean / other, self.stdev / abs(other))

    def __neg__(self):
        return NormalDist(-self.mean, self.stdev)

    __radd__, __rmul__ = __add__, __mul__

    def zscore(self, x):
        return (x - self.mean) / self.stdev

    def __repr__(self):
        return f"NormalDist(mu={self.mean!r}, sigma={self.stdev!r})"

    def __eq__(self, other):
        return isinstance(other, NormalDist) and (self.mean, self.stdev) == (other.mean, other.stdev)

    def __hash__(self):
        return hash((self.mean, self.stdev))
