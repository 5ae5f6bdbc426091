"""What actions and observations may be."""

import numpy as np


class Space:
    def __init__(self, shape=None, dtype=None, seed=None):
        self.shape, self.dtype = shape, dtype
        self._random = None if seed is None else np.random.default_rng(seed)

    @property
    def np_random(self):
        if self._random is None:
            self._random = np.random.default_rng()
        return self._random

    def seed(self, seed=None):
        self._random = np.random.default_rng(seed)
        return seed

    def __contains__(self, x):
        return self.contains(x)


class Discrete(Space):
    def __init__(self, n, seed=None, start=0):
        super().__init__((), np.int64, seed)
        self.n, self.start = int(n), int(start)

    def sample(self, mask=None, probability=None):
        if mask is not None:
            allowed = [i for i, m in enumerate(mask) if m]
            return np.int64(self.start + (allowed[int(self.np_random.integers(len(allowed)))] if allowed else 0))
        return np.int64(self.start + int(self.np_random.integers(self.n)))

    def contains(self, x):
        whole = isinstance(x, int) or (hasattr(x, "item") and not getattr(x, "shape", ()) and int(x) == x)
        return whole and self.start <= int(x) < self.start + self.n

    def __repr__(self):
        return f"Discrete({self.n}, start={self.start})" if self.start else f"Discrete({self.n})"


class MultiDiscrete(Space):
    def __init__(self, nvec, dtype=np.int64, seed=None):
        self.nvec = np.array(nvec)
        super().__init__(self.nvec.shape, dtype, seed)

    def sample(self, mask=None):
        return np.array([int(self.np_random.random() * n) for n in self.nvec.tolist()])

    def contains(self, x):
        return all([0 <= int(v) < n for v, n in zip(x, self.nvec.tolist())])


class Box(Space):
    def __init__(self, low, high, shape=None, dtype=np.float32, seed=None):
        shape = tuple(shape) if shape is not None else np.shape(low) or np.shape(high)
        super().__init__(shape, dtype, seed)
        self.low = np.full(shape, low, dtype) if not np.shape(low) else np.array(low, dtype)
        self.high = np.full(shape, high, dtype) if not np.shape(high) else np.array(high, dtype)

    def sample(self, mask=None):
        made = []
        for low, high in zip(self.low.reshape(-1).tolist(), self.high.reshape(-1).tolist()):
            below, above = low > float("-inf"), high < float("inf")
            if below and above:
                made.append(self.np_random.uniform(low, high))
            elif below:
                made.append(self.np_random.exponential() + low)
            elif above:
                made.append(high - self.np_random.exponential())
            else:
                made.append(self.np_random.normal())
        return np.array([float(v) for v in made]).reshape(self.shape).astype(self.dtype)

    def contains(self, x):
        x = np.array(x)
        return tuple(x.shape) == tuple(self.shape) and bool(np.all(x >= self.low)) and bool(np.all(x <= self.high))

    def __repr__(self):
        return f"Box({self.low.min()}, {self.high.max()}, {tuple(self.shape)}, {np.dtype(self.dtype).name})"
