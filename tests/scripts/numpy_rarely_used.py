"""NumPy as scripts use it less often: exponents, generators, rows that are unique, roots, files with gaps."""
import io
import warnings

import numpy as np


class Config:
    def __array__(self, dtype=None, copy=None):
        return np.array([1, 2])


grid = np.arange(12).reshape(3, 4)
for shown in (
    np.array([1e300, 1]), np.sin([0, np.pi]), np.array([0, 1e308]), np.array([1e-10]), np.array([1.5e-7, -2.25]), np.float16([0.1, 2]), np.float32([0.1]),
    np.fmax([np.nan, 1], 0), np.fmin([np.nan, 5], [1, np.nan]), np.fmod([-1, 5], 3), np.fmod([-1.5], 1), np.linalg.norm([1, -2], 1), np.linalg.norm([1, -2], np.inf),
    np.linalg.matrix_power([[1, 1], [0, 1]], 5), np.unique([[1, 2], [0, 5], [1, 2]], axis=0), np.unique([[1, 0, 1]], axis=1), np.poly([1, 2]), np.polyder([1, 2, 3]),
    np.polyint([2, 2]), np.expand_dims(grid, (0, 2)).shape, np.size(grid, 1), np.array([None, 1]), np.array(Config()), np.rollaxis(np.zeros((2, 3, 4)), 2).shape,
    np.sort(np.roots([1, -3, 2])),
):
    print(shown)
print(repr(np.arange(2000)), np.histogram([1.0, 2, 2], 2, range=(0, 4), density=True), np.histogram([1, 2], 2, weights=[0.5, 2]))
print(np.unique([[1, 2], [0, 5], [1, 2]], axis=0, return_counts=True, return_inverse=True, return_index=True))
print(np.genfromtxt(io.StringIO("1,2\n3,"), delimiter=","), *np.loadtxt(io.StringIO("1 2\n3 4\n5 6"), unpack=True, max_rows=2))
with warnings.catch_warnings(record=True) as seen:
    warnings.simplefilter("always")
    x = np.float64(1) / 0, np.float64(0) / 0, np.int64(-3) / 0, np.int64(3) // 0, np.float64(2) % 0
print(*x, *[str(w.message) for w in seen], sep="\n")
for attempt in (lambda: np.expand_dims(grid, 5), lambda: bool(np.array([])), lambda: int(np.array([1, 2])), lambda: np.random.default_rng(0).rand(2)):
    try:
        print(attempt())
    except Exception as e:
        print(isinstance(e, (ValueError, TypeError, AttributeError)), e)
rng = np.random.default_rng(42)
np.set_printoptions(precision=6)
for draw in (
    rng.exponential(2, 3), rng.poisson(3, 4), rng.poisson(20, 3), rng.binomial(10, 0.3, 3), rng.gamma(2, 1, 2), rng.gamma(0.5, 1, 2), rng.beta(1, 2, 2),
    rng.lognormal(0, 1, 2), rng.standard_exponential(2), rng.laplace(size=2), rng.triangular(0, 1, 2, 2), rng.geometric(0.2, 3), rng.geometric(0.5, 3),
    rng.chisquare(3, 2), rng.standard_gamma(3, 2), rng.multinomial(5, [0.2, 0.8]), rng.dirichlet([1, 2]), rng.logistic(size=2), rng.weibull(2, 2),
    rng.rayleigh(size=2), rng.gumbel(size=2), rng.standard_t(3, 2), rng.pareto(2, 2), rng.power(2, 2), rng.negative_binomial(3, 0.5, 2), rng.standard_cauchy(2),
):
    print(draw)
np.random.seed(3)
for draw in (
    np.random.logistic(size=2), np.random.gumbel(size=2), np.random.triangular(0, 1, 2, 2), np.random.geometric(0.2, 3), np.random.rayleigh(size=2),
    np.random.weibull(2, 2), np.random.pareto(2, 2), np.random.power(2, 2), np.random.standard_t(3, 2), np.random.negative_binomial(3, 0.5, 2),
    np.random.standard_exponential(2),
):
    print(draw)
print(sum(rng.exponential(size=20000)) > 19000, np.sort(rng.exponential(size=20000))[-1] > 7.7)
