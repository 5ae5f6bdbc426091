"""numpy.random: distributions that few scripts draw from, and seeds that other seeds come of
(numpy/random/src/distributions, numpy/random/src/legacy and numpy/random/bit_generator.pyx)."""

import _numpy
import math
import numpy as np

NAMES = ("SeedSequence", "MT19937", "Philox", "SFC64", "PCG64DXSM", "BitGenerator")
METHODS = {}
_WORD = 0xffffffff


def _method(*names):
    """Registers a function as a method, or as that of one of the two classes."""
    def keep(function):
        for name in names or [function.__name__]:
            METHODS[name] = function
        return function
    return keep


class SeedSequence:
    def __init__(self, entropy=None, *, spawn_key=(), pool_size=4, n_children_spawned=0):
        import os
        self.entropy = int.from_bytes(os.urandom(16), "little") if entropy is None else entropy
        self.spawn_key, self.pool_size, self.n_children_spawned = tuple(spawn_key), pool_size, n_children_spawned

    def words(self):
        """All that it is made of, as words of 32 bits; before a key the entropy fills the pool."""
        from numpy.random import _words
        made, key = _words(self.entropy), [w for k in self.spawn_key for w in _words(k)]
        return made + [0] * (self.pool_size - len(made)) * bool(key) + key

    def spawn(self, n_children):
        first = self.n_children_spawned
        self.n_children_spawned += n_children
        return [SeedSequence(self.entropy, spawn_key=self.spawn_key + (i,), pool_size=self.pool_size) for i in range(first, first + n_children)]

    def _pool(self):
        constant = 0x43b0d7e5

        def hashed(value):
            nonlocal constant
            value ^= constant
            constant = constant * 0x931e8875 & _WORD
            value = value * constant & _WORD
            return value ^ value >> 16

        def mixed(x, y):
            made = (0xca01f9dd * x - 0x4973f715 * y) & _WORD
            return made ^ made >> 16
        words, n = self.words(), self.pool_size
        pool = [hashed(w) for w in (words + [0] * n)[:n]]
        for i in range(n):
            for j in range(n):
                if i != j:
                    pool[j] = mixed(pool[j], hashed(pool[i]))
        for w in words[n:]:
            pool = [mixed(p, hashed(w)) for p in pool]
        return pool

    def generate_state(self, n_words, dtype=np.uint32):
        if np._name(dtype) != "uint32":
            raise NotImplementedError("numpy.random.SeedSequence.generate_state of another type than uint32")
        pool, constant, made = self._pool(), 0x8b51f9dd, []
        for i in range(n_words):
            value = pool[i % len(pool)] ^ constant
            constant = constant * 0x58f38ded & _WORD
            value = value * constant & _WORD
            made.append(value ^ value >> 16)
        return np.array(made, "uint32")

    def __repr__(self):
        key = f",\n    spawn_key={self.spawn_key}" if self.spawn_key else ""
        children = f",\n    n_children_spawned={self.n_children_spawned}" if self.n_children_spawned else ""
        return f"SeedSequence(\n    entropy={self.entropy}{key}{children},\n)"


def _absent(name):
    class Absent:
        def __init__(self, *args, **kwargs):
            raise NotImplementedError(f"numpy.random.{name}; PCG64 is there, and RandomState")
    Absent.__name__ = Absent.__qualname__ = name
    return Absent


MT19937, Philox, SFC64, PCG64DXSM, BitGenerator = [_absent(n) for n in NAMES[1:]]


def many_of(double, n, p):
    """`binomial` of many: BTPE (Kachitvichyanukul and Schmeiser, 1988), of p up to a half."""
    q = 1.0 - p
    fm = n * p + p
    m, nrq = math.floor(fm), n * p * q
    p1 = math.floor(2.195 * math.sqrt(nrq) - 4.6 * q) + 0.5
    middle = m + 0.5
    left, right = middle - p1, middle + p1
    c = 0.134 + 20.5 / (15.3 + m)
    slope = lambda a: a * (1.0 + a / 2.0)
    falls, rises = slope((fm - left) / (fm - left * p)), slope((right - fm) / (right * q))
    p2 = p1 * (1.0 + 2.0 * c)
    p3 = p2 + c / falls
    p4 = p3 + c / rises
    rest = lambda f: (13680. - (462. - (132. - (99. - 140. / (f * f)) / (f * f)) / (f * f)) / (f * f)) / f / 166320.
    while True:
        u = double() * p4
        v = double()
        if u <= p1:
            return math.floor(middle - p1 * v + u)
        if u <= p2:
            x = left + (u - p1) / c
            v = v * c + 1.0 - abs(m - x + 0.5) / p1
            if v > 1.0:
                continue
            y = math.floor(x)
        elif v == 0.0:
            continue
        elif u <= p3:
            y = math.floor(left + math.log(v) / falls)
            if y < 0:
                continue
            v = v * (u - p2) * falls
        else:
            y = math.floor(right - math.log(v) / rises)
            if y > n:
                continue
            v = v * (u - p3) * rises
        k = abs(y - m)
        if k <= 20 or k >= nrq / 2.0 - 1:
            s = p / q
            a, f = s * (n + 1), 1.0
            for i in range(m + 1, y + 1):
                f *= a / i - s
            for i in range(y + 1, m + 1):
                f /= a / i - s
            if v <= f:
                return y
            continue
        rho = (k / nrq) * ((k * (k / 3.0 + 0.625) + 0.16666666666666666) / nrq + 0.5)
        t, a = -k * k / (2 * nrq), math.log(v) if v > 0 else -math.inf
        if a < t - rho:
            return y
        if a > t + rho:
            continue
        x1, f1, z, w = y + 1, m + 1, n + 1 - m, n - y + 1
        if a <= (middle * math.log(f1 / x1) + (n - m + 0.5) * math.log(z / w) + (y - m) * math.log(w * p / (x1 * q)) +
                 rest(f1) + rest(z) + rest(x1) + rest(w)):
            return y


def narrow(self, low, high, size, kind):
    """Whole numbers of few bits, of which a word has several."""
    bits, masked = 1 if kind.name == "bool" else 8 * kind.itemsize, type(self).__name__ == "RandomState"
    least, most = (0, 2) if bits == 1 else (int(np.iinfo(kind).min), int(np.iinfo(kind).max) + 1)
    shape = (size,) if isinstance(size, int) else np.broadcast_shapes(np.shape(low), np.shape(high)) if size is None else tuple(size)
    word, left = 0, 0

    def part():
        nonlocal word, left
        if not left:
            word, left = int(_numpy.randint(self._state, 0, 1 << 32, None)), 32 // bits
        else:
            word >>= bits
        left -= 1
        return word & (1 << bits) - 1

    def one(low, high):
        nonlocal left
        if low < least:
            raise ValueError(f"low is out of bounds for {kind.name}")
        if high > most:
            raise ValueError(f"high is out of bounds for {kind.name}")
        n = high - low
        if n < 1:
            raise ValueError("low >= high")
        if n == 1:
            return low
        if n == 1 << bits:
            return low + part()
        if masked:
            mask = (1 << (n - 1).bit_length()) - 1
            while True:
                made = part() & mask
                if made < n:
                    return low + made
        # Lemire's method.
        made, whole = part() * n, 1 << bits
        if made % whole < n:
            threshold = (whole - n) % n
            while made % whole < threshold:
                made = part() * n
        return low + (made >> bits)
    pairs = zip(*[np.broadcast_to(v, shape).reshape(-1).tolist() for v in (low, high)]) if np.ndim(low) or np.ndim(high) else (
        [(int(low), int(high))] * math.prod(shape))
    made = [one(*p) for p in pairs]
    return np.array(made, kind).reshape(shape) if shape else made[0] if bits > 1 else bool(made[0])


@_method()
def vonmises(self, mu, kappa, size=None):
    old = type(self).__name__ == "RandomState"

    def draw(mu, kappa):
        if kappa < 1e-8:
            return math.pi * (2 * self._double() - 1)
        if kappa < 1e-5:
            s = 1.0 / kappa + kappa
        else:
            r = 1 + math.sqrt(1 + 4 * kappa * kappa)
            rho = (r - math.sqrt(2 * r)) / (2 * kappa)
            s = (1 + rho * rho) / (2 * rho)
            if kappa > 1e6 and not old:
                # A normal number, wrapped around.
                made = mu + math.sqrt(1.0 / kappa) * self._gauss()
                return made + 2 * math.pi if made < -math.pi else made - 2 * math.pi if made > math.pi else made
        while True:
            z = math.cos(math.pi * self._double())
            w = (1 + s * z) / (s + z)
            y, v = kappa * (s - w), self._double()
            if y * (2 - y) - v >= 0 or math.log(y / v) + 1 - y >= 0:
                break
        made = math.acos(w)
        made = (-made if self._double() < 0.5 else made) + mu
        size = math.fmod(abs(made) + math.pi, 2 * math.pi) - math.pi
        return -size if made < 0 else size
    return self._many(draw, size, mu, kappa)


@_method()
def zipf(self, a, size=None):
    def draw(a):
        if not a > 1:
            raise ValueError("a <= 1 or a is NaN")
        b = 2.0 ** (a - 1.0)
        while True:
            u, v = 1.0 - self._double(), self._double()
            x = u ** (-1.0 / (a - 1.0))
            if not 1.0 <= x < 2.0 ** 63:
                continue
            x = math.floor(x)
            t = (1.0 + 1.0 / x) ** (a - 1.0)
            if v * x * (t - 1.0) / (b - 1.0) <= t / b:
                return x
    if type(self).__name__ == "Generator":
        raise NotImplementedError("numpy.random.Generator.zipf; RandomState.zipf is there")
    return self._many(draw, size, a)


@_method()
def hypergeometric(self, ngood, nbad, nsample, size=None):
    if type(self).__name__ == "Generator":
        raise NotImplementedError("numpy.random.Generator.hypergeometric; RandomState.hypergeometric is there")

    def few(good, bad, sample):
        least = min(good, bad)
        y, k = float(least), sample
        while y > 0.0:
            y -= math.floor(self._double() + y / (bad + good - sample + k))
            k -= 1
            if k == 0:
                break
        z = int(least - y)
        return sample - z if good > bad else z

    def draw(good, bad, sample):
        if sample > good + bad:
            raise ValueError("ngood + nbad < nsample")
        if sample <= 10:
            return few(good, bad, sample) if sample else 0
        # Stadlober's ratio of uniforms (1990).
        least, most, whole = min(good, bad), max(good, bad), good + bad
        m = min(sample, whole - sample)
        share = least / whole
        d6 = m * share + 0.5
        d7 = math.sqrt((whole - m) * sample * share * (1.0 - share) / (whole - 1) + 0.5)
        d8 = 1.7155277699214135 * d7 + 0.8989161620588988
        logs = lambda z: math.lgamma(z + 1) + math.lgamma(least - z + 1) + math.lgamma(m - z + 1) + math.lgamma(most - m + z + 1)
        top = logs(math.floor((m + 1) * (least + 1) / (whole + 2)))
        bound = min(min(m, least) + 1.0, math.floor(d6 + 16 * d7))
        while True:
            x, y = self._double(), self._double()
            w = d6 + d8 * (y - 0.5) / x
            if not 0.0 <= w < bound:
                continue
            z = math.floor(w)
            t = top - logs(z)
            if x * (4.0 - x) - 3.0 <= t:
                break
            if x * (x - t) < 1 and 2.0 * math.log(x) <= t:
                break
        z = m - z if good > bad else z
        return good - z if m < sample else z
    return self._many(draw, size, ngood, nbad, nsample)


@_method()
def logseries(self, p, size=None):
    if type(self).__name__ == "Generator":
        raise NotImplementedError("numpy.random.Generator.logseries; RandomState.logseries is there")

    def draw(p):
        r = math.log(1.0 - p)
        while True:
            v = self._double()
            if v >= p:
                return 1
            q = 1.0 - math.exp(r * self._double())
            if v > q * q:
                return 1 if v >= q else 2
            if v and math.floor(1 + math.log(v) / math.log(q)) >= 1:
                return math.floor(1 + math.log(v) / math.log(q))
    return self._many(draw, size, p)


def _chisquare(self, df):
    return 2.0 * self._gamma(df / 2.0)


def _noncentral(self, df, nonc):
    if nonc == 0:
        return _chisquare(self, df)
    if df > 1:
        square = _chisquare(self, df - 1)
        return square + (self._gauss() + math.sqrt(nonc)) ** 2
    return _chisquare(self, df + 2 * self._poisson(nonc / 2.0))


@_method()
def noncentral_chisquare(self, df, nonc, size=None):
    return self._many(lambda df, nonc: _noncentral(self, df, nonc), size, df, nonc)


@_method()
def noncentral_f(self, dfnum, dfden, nonc, size=None):
    def draw(num, den, nonc):
        top = _noncentral(self, num, nonc) * den
        return top / (_chisquare(self, den) * num)
    return self._many(draw, size, dfnum, dfden, nonc)


@_method()
def f(self, dfnum, dfden, size=None):
    def draw(num, den):
        top = _chisquare(self, num) * den
        return top / (_chisquare(self, den) * num)
    return self._many(draw, size, dfnum, dfden)


@_method()
def wald(self, mean, scale, size=None):
    def draw(mean, scale):
        y = self._gauss()
        y = mean * y * y
        x = mean + mean / (2 * scale) * (y - math.sqrt(4 * scale * y + y * y))
        return x if self._double() <= mean / (mean + x) else mean * mean / x
    return self._many(draw, size, mean, scale)


@_method()
def random_integers(self, low, high=None, size=None):
    made = self.randint(*((1, low + 1) if high is None else (low, high + 1)), size)
    return np._scalar(made)


@_method()
def tomaxint(self, size=None):
    def draw():
        high = _numpy.randint(self._state, 0, 1 << 32, None)
        return (high << 32 | _numpy.randint(self._state, 0, 1 << 32, None)) >> 1
    if size is not None:
        raise NotImplementedError("numpy.random.RandomState.tomaxint(size=..): its numbers need all 64 bits")
    return draw()
