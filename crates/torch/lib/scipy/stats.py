"""Distributions."""

import math
import numpy as np
import _missing
from scipy.special import _each
from statistics import NormalDist as _Normal


class _Norm:
    """The normal distribution with `loc` and `scale`."""

    def pdf(self, x, loc=0.0, scale=1.0):
        return _each(lambda v: math.exp(-0.5 * ((v - loc) / scale) ** 2) / (scale * math.sqrt(2 * math.pi)))(x)

    def logpdf(self, x, loc=0.0, scale=1.0):
        return _each(lambda v: -0.5 * ((v - loc) / scale) ** 2 - math.log(scale * math.sqrt(2 * math.pi)))(x)

    def cdf(self, x, loc=0.0, scale=1.0):
        return _each(lambda v: 0.5 * math.erfc((loc - v) / (scale * math.sqrt(2))))(x)

    def ppf(self, q, loc=0.0, scale=1.0):
        return _each(lambda p: loc + scale * _Normal().inv_cdf(p) if 0 < p < 1 else -math.inf if p == 0 else math.inf)(q)

    def rvs(self, loc=0.0, scale=1.0, size=None, random_state=None):
        generator = np.random if random_state is None else np.random.RandomState(random_state)
        return generator.normal(loc, scale, size)


norm = _Norm()


def rankdata(a):
    a = np.array(a, np.float64).reshape(-1).tolist()
    order = sorted(range(len(a)), key=lambda i: a[i])
    ranks, i = [0.0] * len(a), 0
    while i < len(a):
        j = i
        while j < len(a) and a[order[j]] == a[order[i]]:
            j += 1
        for k in range(i, j):
            ranks[order[k]] = (i + j + 1) / 2
        i = j
    return np.array(ranks)


def pearsonr(x, y):
    x, y = np.array(x, np.float64), np.array(y, np.float64)
    x, y = x - x.mean(), y - y.mean()
    return ((x * y).sum() / np.sqrt((x * x).sum() * (y * y).sum()), math.nan)


def spearmanr(a, b):
    return pearsonr(rankdata(a), rankdata(b))


__getattr__ = _missing.names("scipy.stats", globals())
