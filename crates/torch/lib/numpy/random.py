"""numpy.random: the sequences of RandomState and of default_rng for a seed."""

import _numpy
import builtins
import math
import numpy as np


class RandomState:
    def __init__(self, seed=None):
        self.seed(seed)

    def seed(self, seed=None):
        self._state = _numpy.state(seed.tolist() if hasattr(seed, "tolist") else seed)

    def random_sample(self, size=None):
        return _numpy.draw(self._state, "random", size)

    random = ranf = sample = random_sample

    def rand(self, *size):
        return _numpy.draw(self._state, "random", size or None)

    def randn(self, *size):
        return _numpy.draw(self._state, "normal", size or None)

    def _shape(self, size, *values):
        if size is not None or all([not np.ndim(v) for v in values]):
            return size
        return np.broadcast_shapes(*[np.shape(v) for v in values])

    def uniform(self, low=0.0, high=1.0, size=None):
        made = _numpy.draw(self._state, "random", self._shape(size, low, high))
        return low + (high - low) * made if not (np.ndim(low) or np.ndim(high)) else np.add(low, np.multiply(np.subtract(high, low), made))

    def normal(self, loc=0.0, scale=1.0, size=None):
        if not np.ndim(scale) and scale < 0:
            raise ValueError("scale < 0")
        made = _numpy.draw(self._state, "normal", self._shape(size, loc, scale))
        return loc + scale * made if not (np.ndim(loc) or np.ndim(scale)) else np.add(loc, np.multiply(scale, made))

    def standard_normal(self, size=None):
        return _numpy.draw(self._state, "normal", size)

    def exponential(self, scale=1.0, size=None):
        made = _numpy.draw(self._state, "exponential", self._shape(size, scale))
        return scale * made if not np.ndim(scale) else np.multiply(scale, made)

    def lognormal(self, mean=0.0, sigma=1.0, size=None):
        return np.exp(self.normal(mean, sigma, size))

    def randint(self, low, high=None, size=None, dtype=int):
        low, high = (0, low) if high is None else (low, high)
        made = self._whole(low, high, size, dtype)
        return made if size is None and not np.ndim(made) and np._name(dtype) in ("int64", "bool") else np._as(made).astype(dtype)[()]

    def _whole(self, low, high, size, dtype=int):
        if np._name(dtype) in ("int8", "uint8", "int16", "uint16", "bool"):
            from numpy._distributions import narrow
            return narrow(self, low, high, size, np.dtype(dtype))
        if not np.ndim(low) and not np.ndim(high):
            return _numpy.randint(self._state, int(low), int(high), size)
        # Bounds for every place.
        pairs = np.broadcast(low, high)
        shape = pairs.shape if size is None else (size,) if isinstance(size, int) else tuple(size)
        low, high = [np.broadcast_to(v, shape).reshape(-1).tolist() for v in (low, high)]
        return np.array([_numpy.randint(self._state, *v, None) for v in zip(low, high)], "int64").reshape(shape)

    def _many(self, draw, size, *parameters):
        """Draws with the algorithms of NumPy's legacy distributions, number by number."""
        shape = self._shape(size, *parameters)
        if shape is None:
            return draw(*parameters)
        shape = (shape,) if isinstance(shape, int) else tuple(shape)
        n = math.prod(shape)
        columns = [np.broadcast_to(np._as(p), shape).reshape(-1).tolist() if np.ndim(p) else [p] * n for p in parameters]
        return np.array([draw(*values) for values in (zip(*columns) if columns else [()] * n)]).reshape(shape)

    def _double(self):
        return _numpy.draw(self._state, "random", None)

    def _gauss(self):
        return _numpy.draw(self._state, "normal", None)

    def _gamma(self, shape):
        # legacy-distributions.c: Johnk's method below one, Marsaglia and Tsang's (2000) above.
        if shape == 1.0:
            return _numpy.draw(self._state, "exponential", None)
        if shape < 1.0:
            while shape > 0.0:
                u, v = self._double(), _numpy.draw(self._state, "exponential", None)
                if u <= 1.0 - shape:
                    x = u ** (1.0 / shape)
                    if x <= v:
                        return x
                else:
                    y = -math.log((1 - u) / shape)
                    x = (1.0 - shape + shape * y) ** (1.0 / shape)
                    if x <= v + y:
                        return x
            return 0.0
        b = shape - 1.0 / 3.0
        c = 1.0 / math.sqrt(9.0 * b)
        while True:
            x = self._gauss()
            v = 1.0 + c * x
            if v <= 0.0:
                continue
            v = v * v * v
            u = self._double()
            if u < 1.0 - 0.0331 * x * x * x * x or math.log(u) < 0.5 * x * x + b * (1.0 - v + math.log(v)):
                return b * v

    def _beta(self, a, b):
        if a <= 1.0 and b <= 1.0:
            while True:
                x, y = self._double() ** (1.0 / a), self._double() ** (1.0 / b)
                if x + y <= 1.0 and x + y > 0.0:
                    return x / (x + y)
        x, y = self._gamma(a), self._gamma(b)
        return x / (x + y)

    def _binomial(self, n, p):
        if p > 0.5:
            return n - self._binomial(n, 1.0 - p)
        if n == 0 or p == 0.0:
            return 0
        if n * p > 30.0:
            from numpy._distributions import many_of
            return many_of(self._double, n, p)
        q = 1.0 - p
        first = math.exp(n * math.log(q))
        bound = builtins.min(n, n * p + 10.0 * math.sqrt(n * p * q + 1))
        x, px, u = 0, first, self._double()
        while u > px:
            x += 1
            if x > bound:
                x, px, u = 0, first, self._double()
            else:
                u -= px
                px = ((n - x + 1) * p * px) / (x * q)
        return x

    def _poisson(self, lam):
        if lam == 0:
            return 0
        if lam < 10:
            limit, x, product = math.exp(-lam), 0, 1.0
            while True:
                product *= self._double()
                if product <= limit:
                    return x
                x += 1
        # Hormann's transformed rejection (1993).
        log = math.log(lam)
        b = 0.931 + 2.53 * math.sqrt(lam)
        a = -0.059 + 0.02483 * b
        inverse, vr = 1.1239 + 1.1328 / (b - 3.4), 0.9277 - 3.6224 / (b - 2)
        while True:
            u, v = self._double() - 0.5, self._double()
            us = 0.5 - builtins.abs(u)
            k = math.floor((2 * a / us + b) * u + lam + 0.43)
            if us >= 0.07 and v <= vr:
                return k
            if k < 0 or (us < 0.013 and v > us):
                continue
            if math.log(v) + math.log(inverse) - math.log(a / (us * us) + b) <= -lam + k * log - math.lgamma(k + 1):
                return k

    def gamma(self, shape, scale=1.0, size=None):
        return scale * self._many(self._gamma, size, shape)

    def standard_gamma(self, shape, size=None):
        return self._many(self._gamma, size, shape)

    def chisquare(self, df, size=None):
        return 2.0 * self._many(self._gamma, size, df / 2.0)

    def beta(self, a, b, size=None):
        return self._many(self._beta, size, a, b)

    def binomial(self, n, p, size=None):
        return self._many(self._binomial, size, n, p)

    def poisson(self, lam=1.0, size=None):
        return self._many(self._poisson, size, lam)

    def dirichlet(self, alpha, size=None):
        alpha = np._as(alpha).tolist()
        shape = () if size is None else (size,) if isinstance(size, int) else tuple(size)
        rows = []
        for _ in range(math.prod(shape)):
            row = [self._gamma(a) for a in alpha]
            total = math.fsum(row)
            rows.append([v / total for v in row])
        return np.array(rows).reshape(shape + (len(alpha),))

    def laplace(self, loc=0.0, scale=1.0, size=None):
        def draw(loc, scale):
            while True:
                u = self._double()
                if u >= 0.5:
                    return loc - scale * math.log(2.0 - u - u)
                if u > 0.0:
                    return loc + scale * math.log(u + u)
        return self._many(draw, size, loc, scale)

    def _geometric(self, p):
        if p < 0.333333333333333333333333:
            return math.ceil(math.log1p(-self._double()) / math.log(1.0 - p))
        x, total, product, u = 1, p, p, self._double()
        while u > total:
            product *= 1.0 - p
            total += product
            x += 1
        return x

    def geometric(self, p, size=None):
        return self._many(self._geometric, size, p)

    def _between(self, invert):
        while True:
            u = self._double()
            if u > 0.0:
                return invert(u)

    def logistic(self, loc=0.0, scale=1.0, size=None):
        return self._many(lambda loc, scale: self._between(lambda u: loc + scale * math.log(u / (1.0 - u))), size, loc, scale)

    def gumbel(self, loc=0.0, scale=1.0, size=None):
        return self._many(lambda loc, scale: self._between(lambda u: loc - scale * math.log(-math.log(1.0 - u))), size, loc, scale)

    def triangular(self, left, mode, right, size=None):
        def draw(left, mode, right):
            base, below, u = right - left, mode - left, self._double()
            if u <= below / base:
                return left + math.sqrt(u * below * base)
            return right - math.sqrt((1.0 - u) * (right - mode) * base)
        return self._many(draw, size, left, mode, right)

    def standard_exponential(self, size=None):
        return _numpy.draw(self._state, "exponential", size)

    def _exponential(self):
        return _numpy.draw(self._state, "exponential", None)

    def rayleigh(self, scale=1.0, size=None):
        return self._many(lambda scale: scale * math.sqrt(-2.0 * math.log1p(-self._double())), size, scale)

    def weibull(self, a, size=None):
        return self._many(lambda a: self._exponential() ** (1.0 / a), size, a)

    def pareto(self, a, size=None):
        return self._many(lambda a: math.exp(self._exponential() / a) - 1, size, a)

    def power(self, a, size=None):
        return self._many(lambda a: (1 - math.exp(-self._exponential())) ** (1.0 / a), size, a)

    def standard_t(self, df, size=None):
        return self._many(lambda df: math.sqrt(df / 2.0) * self._gauss() / math.sqrt(self._gamma(df / 2.0)), size, df)

    def negative_binomial(self, n, p, size=None):
        return self._many(lambda n, p: self._poisson((1.0 - p) / p * self._gamma(n)), size, n, p)

    def bytes(self, length):
        words = [self.randint(0, 2**32) for _ in range(-(-length // 4))]
        return b"".join([int(w).to_bytes(4, "little") for w in words])[:length]

    def standard_cauchy(self, size=None):
        return self._many(lambda: self._gauss() / self._gauss(), size)

    def multinomial(self, n, pvals, size=None):
        def one():
            left, rest, made = n, 1.0, []
            for p in pvals[:-1]:
                made.append(self._binomial(left, p / rest) if left > 0 else 0)
                left, rest = left - made[-1], rest - p
            return made + [left]
        shape = () if size is None else (size,) if isinstance(size, int) else tuple(size)
        return np.array([one() for _ in range(math.prod(shape))]).reshape(shape + (len(pvals),))

    def multivariate_normal(self, mean, cov, size=None, check_valid="warn", tol=1e-8):
        mean = np._as(mean)
        shape = () if size is None else (size,) if isinstance(size, int) else tuple(size)
        x = self.standard_normal(shape + (len(mean),)).reshape(-1, len(mean))
        _, s, vh = np.linalg.svd(np._as(cov))
        return (mean + x @ (np.sqrt(s)[:, None] * vh)).reshape(shape + (len(mean),))

    def permutation(self, x):
        if isinstance(x, int):
            return _numpy.permutation(self._state, x)
        x = np.array(x)
        return x[_numpy.permutation(self._state, len(x))]

    def shuffle(self, x):
        order = _numpy.permutation(self._state, len(x))
        if isinstance(x, np.ndarray):
            x[...] = x[order]
        elif hasattr(x, "_places"):
            x[:] = x[order].copy()
        else:
            kept = list(x)
            for i, place in enumerate(order.tolist()):
                x[i] = kept[place]

    def choice(self, a, size=None, replace=True, p=None):
        n = a if isinstance(a, int) else len(a)
        p = p.tolist() if hasattr(p, "tolist") else p
        if p is not None and abs(math.fsum(p) - 1) > 1e-8:
            raise ValueError("probabilities do not sum to 1")
        made = _numpy.choice(self._state, n, size, replace) if p is None else self._weighted(n, size, replace, np._as(p))
        if isinstance(a, int):
            return made
        return np.array(a)[made] if isinstance(made, np.ndarray) else np.array(a)[made]

    def _weighted(self, n, size, replace, p):
        if len(p) != n:
            raise ValueError("'a' and 'p' must have same size")
        shape = () if size is None else (size,) if isinstance(size, int) else tuple(size)
        count = math.prod(shape)
        if replace:
            sums = np.cumsum(p)
            made = np.searchsorted(sums / sums[-1], self.random(count), "right")
        else:
            if count > int((p > 0).sum()):
                raise ValueError("Fewer non-zero entries in p than size")
            p, found = p.copy(), []
            while len(found) < count:
                x = self.random(count - len(found))
                if found:
                    p[np.array(found)] = 0
                sums = np.cumsum(p)
                found += list(dict.fromkeys(np.searchsorted(sums / sums[-1], x, "right").tolist()))
            made = np.array(found)
        return int(made[0]) if size is None else made.reshape(shape)

    def get_state(self, legacy=True):
        words, gauss = _numpy.state_of(self._state)
        key, pos, has = np.array(words[:624], "uint32"), words[624], int(gauss is not None)
        if legacy:
            return "MT19937", key, pos, has, gauss or 0.0
        return {"bit_generator": "MT19937", "state": {"key": key, "pos": pos}, "has_gauss": has, "gauss": gauss or 0.0}

    def set_state(self, state):
        if isinstance(state, dict):
            state = state["bit_generator"], state["state"]["key"], state["state"]["pos"], state.get("has_gauss", 0), state.get("gauss", 0.0)
        if state[0] != "MT19937":
            raise ValueError("set_state can only be used with legacy MT19937 state instances.")
        name, key, pos, has, gauss = (*state, 0, 0.0)[:5]
        _numpy.set_state(self._state, [int(w) for w in key] + [int(pos)], float(gauss) if has else None)

    def __getstate__(self):
        return self.get_state(legacy=False)

    def __setstate__(self, state):
        self.seed(0)
        self.set_state(state)

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        from numpy import _distributions
        function = _distributions.METHODS.get((type(self).__name__, name)) or _distributions.METHODS.get(name)
        if function is None:
            raise AttributeError(f"'numpy.random.{'_generator.Generator' if isinstance(self, Generator) else 'mtrand.RandomState'}' object has no attribute '{name}'")
        return lambda *args, **kwargs: function(self, *args, **kwargs)


_global = RandomState()
for _name in ("seed random_sample random ranf sample rand randn uniform normal standard_normal exponential lognormal randint permutation "
              "shuffle choice gamma standard_gamma chisquare beta binomial poisson dirichlet laplace standard_cauchy multinomial "
              "multivariate_normal get_state set_state geometric logistic gumbel triangular standard_exponential rayleigh weibull pareto power "
              "standard_t negative_binomial bytes").split():
    globals()[_name] = getattr(_global, _name)


class PCG64:
    """The bits behind a `Generator`; its `state` may be read and set."""

    def __init__(self, seed=None):
        if seed is None or isinstance(seed, (int, list, tuple, np.ndarray)):
            self._seed, seed = seed, None if seed is None else _words(seed)
        else:
            self._seed, seed = seed, seed.words()
        self._state = _numpy.generator(seed)

    @property
    def seed_seq(self):
        if not hasattr(self._seed, "spawn"):
            from numpy._distributions import SeedSequence
            self._seed = SeedSequence(self._seed)
        return self._seed

    @property
    def state(self):
        words, _ = _numpy.state_of(self._state)
        whole = lambda part: sum([w << 32 * i for i, w in enumerate(part)])
        return {"bit_generator": "PCG64", "state": {"state": whole(words[:4]), "inc": whole(words[4:8])},
                "has_uint32": words[8], "uinteger": words[9]}

    @state.setter
    def state(self, value):
        if value["bit_generator"] != "PCG64":
            raise ValueError("state must be for a PCG64 PRNG")
        words = [value["state"][name] >> 32 * i & 0xffffffff for name in ("state", "inc") for i in range(4)]
        _numpy.set_state(self._state, words + [int(value["has_uint32"]), int(value["uinteger"])], None)

    def __reduce__(self):
        return _restored, (self.state,)


class _restored:
    """What a pickle calls to make a generator in a state."""

    def __new__(cls, state, whole=False):
        made = PCG64(0)
        made.state = state
        return Generator(made) if whole else made


def _words(seed):
    """A seed as words of 32 bits."""
    words = []
    for n in [seed] if isinstance(seed, int) else np._as(seed).reshape(-1).tolist():
        if n < 0:
            raise ValueError("expected non-negative integer")
        words.append(n & 0xffffffff)
        while n > 0xffffffff:
            n >>= 32
            words.append(n & 0xffffffff)
    return words


class Generator(RandomState):
    """What `default_rng` gives: other sequences, of PCG64, and names of its own."""

    def __init__(self, bit_generator=None):
        self.bit_generator = bit_generator if isinstance(bit_generator, PCG64) else PCG64(bit_generator)
        self._state = self.bit_generator._state

    def __reduce__(self):
        return _restored, (self.bit_generator.state, True)

    def __repr__(self):
        return f"Generator(PCG64) at 0x{id(self):X}"

    def __str__(self):
        return "Generator(PCG64)"

    def _drawn(self, name, size, dtype, out=None):
        from numpy import _singles
        made = None if dtype is None else _singles.drawn(self._state, name, size, dtype, out)
        if made is not None:
            return made
        made = _numpy.draw(self._state, name, size if out is None else out.shape)
        if out is None:
            return made
        out[...] = made
        return out

    def random(self, size=None, dtype=None, out=None):
        return self._drawn("random", size, dtype, out)

    def standard_normal(self, size=None, dtype=None, out=None):
        return self._drawn("normal", size, dtype, out)

    def standard_exponential(self, size=None, dtype=None, method="zig", out=None):
        if method != "zig":
            raise NotImplementedError("numpy.random.Generator.standard_exponential(method='inv'); method='zig' is there")
        return self._drawn("exponential", size, dtype, out)

    def standard_gamma(self, shape, size=None, dtype=None):
        from numpy import _singles
        made = None if dtype is None else _singles.drawn(self._state, "gamma", size, dtype, None, shape)
        return RandomState.standard_gamma(self, shape, size) if made is None else made

    def integers(self, low, high=None, size=None, dtype=int, endpoint=False):
        low, high = (0, low) if high is None else (low, high)
        made = self._whole(low, np.add(high, 1) if endpoint else high, size, dtype)
        return np.int64(made) if size is None and np._name(dtype) == "int64" else np._as(made).astype(dtype)[()]

    def permuted(self, x, *, axis=None, out=None):
        x = np.array(x)
        rows = x.reshape(1, -1) if axis is None else np.moveaxis(x, axis, -1)
        n, made = rows.shape[-1], [row[_numpy.permutation(self._state, len(row))] for row in rows.reshape(-1, rows.shape[-1])]
        made = np.stack(made).reshape(rows.shape) if n else x
        return np._given(made.reshape(x.shape) if axis is None else np.moveaxis(made, -1, axis), out, None)

    def permutation(self, x, axis=0):
        if isinstance(x, int):
            return _numpy.permutation(self._state, x)
        x = np.array(x)
        return np.take(x, _numpy.permutation(self._state, x.shape[axis]), axis)

    def shuffle(self, x, axis=0):
        RandomState.shuffle(self, np.moveaxis(x, axis, 0) if axis else x)

    def choice(self, a, size=None, replace=True, p=None, axis=0, shuffle=True):
        if not shuffle and not replace:
            raise NotImplementedError("numpy.random.Generator.choice(replace=False, shuffle=False)")
        if axis and not isinstance(a, int):
            return np.take(a, RandomState.choice(self, np.shape(a)[axis], size, replace, p), axis)
        return RandomState.choice(self, a, size, replace, p)

    def spawn(self, n_children):
        return [Generator(PCG64(s)) for s in self.bit_generator.seed_seq.spawn(n_children)]

    def _geometric(self, p):
        return RandomState._geometric(self, p) if p >= 0.333333333333333333333333 else math.ceil(-self._exponential() / math.log1p(-p))

    def rayleigh(self, scale=1.0, size=None):
        return self._many(lambda scale: scale * math.sqrt(2.0 * self._exponential()), size, scale)

    def pareto(self, a, size=None):
        return self._many(lambda a: math.expm1(self._exponential() / a), size, a)

    def power(self, a, size=None):
        return self._many(lambda a: (-math.expm1(-self._exponential())) ** (1.0 / a), size, a)

    def bytes(self, length):
        words = [self.integers(0, 2**32) for _ in range(-(-length // 4))]
        return b"".join([int(w).to_bytes(4, "little") for w in words])[:length]

    def multivariate_normal(self, mean, cov, size=None, check_valid="warn", tol=1e-8, *, method="svd"):
        mean, cov = np._as(mean), np._as(cov)
        shape = () if size is None else (size,) if isinstance(size, int) else tuple(size)
        x = self.standard_normal(shape + (len(mean),)).reshape(-1, len(mean))
        if method == "cholesky":
            factor = np.linalg.cholesky(cov)
        else:
            u, s = np.linalg.eigh(cov)[::-1] if method == "eigh" else np.linalg.svd(cov)[:2]
            factor = u * np.sqrt(np.abs(s))
        return (mean + x @ factor.T).reshape(shape + (len(mean),))


def _absent(name):
    def get(self):
        raise AttributeError(f"'numpy.random._generator.Generator' object has no attribute '{name}'")
    return property(get)


for _name in "seed rand randn randint random_sample ranf sample get_state set_state random_integers tomaxint".split():
    setattr(Generator, _name, _absent(_name))


def default_rng(seed=None):
    return seed if isinstance(seed, Generator) else Generator(seed)


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(f"module 'numpy.random' has no attribute '{name}'")
    from numpy import _distributions
    if name in _distributions.NAMES:
        return getattr(_distributions, name)
    if name in _distributions.METHODS:
        return getattr(_global, name)
    from _missing import _Missing
    raise _Missing(f"numpy.random.{name} is not there")
