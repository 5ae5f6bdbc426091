"""numpy.random: RandomState's sequences for a seed. The newer generators' are not there."""

import _numpy
import builtins
import math
import numpy as np


class RandomState:
    def __init__(self, seed=None):
        self._state = _numpy.state(seed.tolist() if hasattr(seed, "tolist") else seed)

    def seed(self, seed=None):
        self._state = _numpy.state(seed)

    def random_sample(self, size=None):
        return _numpy.draw(self._state, "random", size)

    random = ranf = sample = random_sample

    def rand(self, *size):
        return _numpy.draw(self._state, "random", size or None)

    def randn(self, *size):
        return _numpy.draw(self._state, "normal", size or None)

    def _shape(self, size, *values):
        if size is not None or all([not isinstance(v, np.ndarray) for v in values]):
            return size
        made = values[0]
        for v in values[1:]:
            made = np.add(made, v)
        return made.shape

    def uniform(self, low=0.0, high=1.0, size=None):
        return low + (high - low) * _numpy.draw(self._state, "random", self._shape(size, low, high))

    def normal(self, loc=0.0, scale=1.0, size=None):
        return loc + scale * _numpy.draw(self._state, "normal", self._shape(size, loc, scale))

    def standard_normal(self, size=None):
        return _numpy.draw(self._state, "normal", size)

    def exponential(self, scale=1.0, size=None):
        return scale * _numpy.draw(self._state, "exponential", self._shape(size, scale))

    def lognormal(self, mean=0.0, sigma=1.0, size=None):
        return np.exp(self.normal(mean, sigma, size))

    def randint(self, low, high=None, size=None, dtype=int):
        low, high = (0, low) if high is None else (low, high)
        made = _numpy.randint(self._state, low, high, size)
        return made if size is None else made.astype(dtype)

    def binomial(self, n, p, size=None):
        raise NotImplementedError("numpy.random.binomial")

    def permutation(self, x):
        if isinstance(x, int):
            return _numpy.permutation(self._state, x, False)
        x = np.array(x)
        return x[_numpy.permutation(self._state, len(x), True)]

    def shuffle(self, x):
        order = _numpy.permutation(self._state, len(x), True)
        if isinstance(x, np.ndarray):
            x[...] = x[order]
        else:
            kept = list(x)
            for i, place in enumerate(order.tolist()):
                x[i] = kept[place]

    def choice(self, a, size=None, replace=True, p=None):
        n = a if isinstance(a, int) else len(a)
        p = p.tolist() if hasattr(p, "tolist") else p
        if p is not None and abs(math.fsum(p) - 1) > 1e-8:
            raise ValueError("probabilities do not sum to 1")
        made = _numpy.choice(self._state, n, size, replace, p)
        if isinstance(a, int):
            return made
        return np.array(a)[made] if isinstance(made, np.ndarray) else a[made]

    def get_state(self):
        return self._state


_global = RandomState()
for _name in ("seed random_sample random ranf sample rand randn uniform normal standard_normal exponential lognormal randint permutation "
              "shuffle choice").split():
    globals()[_name] = getattr(_global, _name)


def default_rng(seed=None):
    raise NotImplementedError("numpy.random.default_rng; numpy.random.RandomState(seed) is there")


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(f"module 'numpy.random' has no attribute '{name}'")
    raise NotImplementedError(f"numpy.random.{name} is not there")
