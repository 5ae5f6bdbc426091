"""Distributions of real numbers."""

from torch import _C, Size, finfo
from torch._C import Tensor
from torch.distributions.distribution import Distribution, _positive, _real, _tensors
import math

_ops = _C._ops
_REAL, _POSITIVE = "Real()", "GreaterThan(lower_bound=0.0)"


class _LocScale(Distribution):
    has_rsample = True
    _parameters = (("loc", _REAL, _real), ("scale", _POSITIVE, _positive))

    def __init__(self, loc, scale, validate_args=None):
        (self.loc, self.scale), shape = _tensors(loc, scale)
        super().__init__(shape, validate_args=validate_args)

    @property
    def mean(self):
        return self.loc

    @property
    def mode(self):
        return self.loc


class Normal(_LocScale):
    @property
    def variance(self):
        return self.scale.square()

    @property
    def stddev(self):
        return self.scale

    def rsample(self, sample_shape=()):
        drawn = _C.normal(self._extended_shape(sample_shape), 0.0, 1.0, self.loc.dtype, None)
        return self.loc + drawn * self.scale

    def log_prob(self, value):
        return -((value - self.loc) ** 2) / (2 * self.scale ** 2) - self.scale.log() - math.log(math.sqrt(2 * math.pi))

    def entropy(self):
        return 0.5 + 0.5 * math.log(2 * math.pi) + self.scale.log()

    def cdf(self, value):
        return 0.5 * (1 + _ops["erf"]((value - self.loc) / (self.scale * math.sqrt(2))))

    def icdf(self, value):
        return self.loc + self.scale * _ops["erfinv"](2 * value - 1) * math.sqrt(2)


class LogNormal(Normal):
    _shown = False

    @property
    def mean(self):
        return (self.loc + self.scale.square() / 2).exp()

    @property
    def mode(self):
        return (self.loc - self.scale.square()).exp()

    @property
    def variance(self):
        return (self.scale.square().exp() - 1) * (2 * self.loc + self.scale.square()).exp()

    stddev = Distribution.stddev

    def rsample(self, sample_shape=()):
        return super().rsample(sample_shape).exp()

    def log_prob(self, value):
        return super().log_prob(value.log()) - value.log()

    def entropy(self):
        return super().entropy() + self.loc

    def cdf(self, value):
        return super().cdf(value.log())


class HalfNormal(Distribution):
    _shown = False
    has_rsample = True
    _parameters = (("scale", _POSITIVE, _positive),)

    def __init__(self, scale, validate_args=None):
        (self.scale,), shape = _tensors(scale)
        super().__init__(shape, validate_args=validate_args)

    @property
    def mean(self):
        return self.scale * math.sqrt(2 / math.pi)

    @property
    def variance(self):
        return self.scale.square() * (1 - 2 / math.pi)

    def rsample(self, sample_shape=()):
        return Normal(0.0 * self.scale, self.scale, validate_args=False).rsample(sample_shape).abs()

    def log_prob(self, value):
        return Normal(0.0 * self.scale, self.scale, validate_args=False).log_prob(value) + math.log(2)

    def entropy(self):
        return Normal(0.0 * self.scale, self.scale, validate_args=False).entropy() - math.log(2)

    def cdf(self, value):
        return 2 * Normal(0.0 * self.scale, self.scale, validate_args=False).cdf(value) - 1

    def icdf(self, value):
        return Normal(0.0 * self.scale, self.scale, validate_args=False).icdf((value + 1) / 2)


class Laplace(_LocScale):
    @property
    def variance(self):
        return 2 * self.scale.square()

    def rsample(self, sample_shape=()):
        u = _C.uniform(self._extended_shape(sample_shape), finfo(self.loc.dtype).eps - 1, 1, self.loc.dtype, None)
        return self.loc - self.scale * u.sign() * _ops["log1p"](-u.abs())

    def log_prob(self, value):
        return -(2 * self.scale).log() - (value - self.loc).abs() / self.scale

    def entropy(self):
        return 1 + (2 * self.scale).log()

    def cdf(self, value):
        return 0.5 - 0.5 * (value - self.loc).sign() * _ops["expm1"](-(value - self.loc).abs() / self.scale)


class Gumbel(_LocScale):
    @property
    def mean(self):
        return self.loc + self.scale * 0.57721566490153286060

    @property
    def variance(self):
        return self.scale.square() * (math.pi ** 2 / 6)

    def rsample(self, sample_shape=()):
        info = finfo(self.loc.dtype)
        u = _C.uniform(self._extended_shape(sample_shape), 0.0, 1.0, self.loc.dtype, None) * (1 - info.eps - info.tiny) + info.tiny
        return self.loc - self.scale * (-u.log()).log()

    def log_prob(self, value):
        y = (self.loc - value) / self.scale
        return (y - y.exp()) - self.scale.log()

    def entropy(self):
        return self.scale.log() + (1 + 0.57721566490153286060)


class Cauchy(_LocScale):
    @property
    def mean(self):
        return self.loc * float("nan")

    @property
    def variance(self):
        return self.loc * 0 + float("inf")

    def rsample(self, sample_shape=()):
        shape = self._extended_shape(sample_shape)
        return self.loc + _C.full(shape, 0.0, self.loc.dtype).cauchy_() * self.scale

    def cdf(self, value):
        return _ops["atan"]((value - self.loc) / self.scale) / math.pi + 0.5

    def icdf(self, value):
        return _ops["tan"](math.pi * (value - 0.5)) * self.scale + self.loc

    def log_prob(self, value):
        return -math.log(math.pi) - self.scale.log() - _ops["log1p"](((value - self.loc) / self.scale) ** 2)

    def entropy(self):
        return math.log(4 * math.pi) + self.scale.log()


class Uniform(Distribution):
    has_rsample = True
    _parameters = (("low", _REAL, _real), ("high", _REAL, _real))

    def __init__(self, low, high, validate_args=None):
        (self.low, self.high), shape = _tensors(low, high)
        super().__init__(shape, validate_args=validate_args)
        if self._validate and not (self.low.detach() < self.high.detach()).all().item():
            raise ValueError("Uniform is not defined when low>= high")

    @property
    def mean(self):
        return (self.high + self.low) / 2

    @property
    def variance(self):
        return (self.high - self.low).square() / 12

    def rsample(self, sample_shape=()):
        u = _C.uniform(self._extended_shape(sample_shape), 0.0, 1.0, self.low.dtype, None)
        return self.low + u * (self.high - self.low)

    def log_prob(self, value):
        if self._validate:
            low, high = self.low.detach(), self.high.detach()
            self._check_sample(value, f"Interval(lower_bound={low}, upper_bound={high})", lambda v: (v >= low) & (v <= high))
        inside = (self.low.le(value) & self.high.gt(value)).to(self.low.dtype)
        return inside.log() - (self.high - self.low).log()

    def entropy(self):
        return (self.high - self.low).log()

    def cdf(self, value):
        return ((value - self.low) / (self.high - self.low)).clamp(0, 1)

    def icdf(self, value):
        return value * (self.high - self.low) + self.low


class Exponential(Distribution):
    has_rsample = True
    _parameters = (("rate", _POSITIVE, _positive),)

    def __init__(self, rate, validate_args=None):
        (self.rate,), shape = _tensors(rate)
        super().__init__(shape, validate_args=validate_args)

    @property
    def mean(self):
        return self.rate.reciprocal()

    @property
    def variance(self):
        return self.rate.pow(-2)

    def rsample(self, sample_shape=()):
        return _C.exponential(self._extended_shape(sample_shape), 1.0, None) / self.rate

    def log_prob(self, value):
        self._check_sample(value, "GreaterThanEq(lower_bound=0.0)", lambda v: v >= 0)
        return self.rate.log() - self.rate * value

    def entropy(self):
        return 1.0 - self.rate.log()

    def cdf(self, value):
        return 1 - (-self.rate * value).exp()

    def icdf(self, value):
        return -_ops["log1p"](-value) / self.rate


def _cholesky(a):
    """The lower triangle L with L L^T = A, column by column: A is small."""
    n = a.shape[-1]
    columns = []
    for j in range(n):
        rest = a[..., :, j]
        for c in columns:
            rest = rest - c * c[..., j:j + 1]
        column = rest / rest[..., j:j + 1].sqrt()
        columns.append(column * (_C.arange(0, n, 1, _C.int64) >= j).to(a.dtype))
    return _ops["stack"](columns, -1)


class MultivariateNormal(Distribution):
    has_rsample = True
    _parameters = (("loc", "IndependentConstraint(Real(), 1)", _real),)

    def __init__(self, loc, covariance_matrix=None, precision_matrix=None, scale_tril=None, validate_args=None):
        if (covariance_matrix is not None) + (scale_tril is not None) + (precision_matrix is not None) != 1:
            raise ValueError("Exactly one of covariance_matrix or precision_matrix or scale_tril may be specified.")
        if precision_matrix is not None:
            raise NotImplementedError("MultivariateNormal(precision_matrix=..); give covariance_matrix or scale_tril")
        self.scale_tril = _cholesky(covariance_matrix) if scale_tril is None else scale_tril
        self.covariance_matrix = self.scale_tril @ self.scale_tril.mT if covariance_matrix is None else covariance_matrix
        batch = _ops["matmul"](self.scale_tril, loc.unsqueeze(-1)).shape[:-2]
        self.loc = loc.expand(tuple(batch) + tuple(loc.shape[-1:]))
        super().__init__(batch, loc.shape[-1:], validate_args)

    def __repr__(self):
        return f"MultivariateNormal(loc: {self.loc.size()}, covariance_matrix: {self.covariance_matrix.size()})"

    @property
    def mean(self):
        return self.loc

    @property
    def variance(self):
        return self.scale_tril.square().sum(-1).expand(self.loc.shape)

    def rsample(self, sample_shape=()):
        drawn = _C.normal(self._extended_shape(sample_shape), 0.0, 1.0, self.loc.dtype, None)
        return self.loc + (self.scale_tril @ drawn.unsqueeze(-1)).squeeze(-1)

    def _half_log_det(self):
        return self.scale_tril.diagonal(dim1=-2, dim2=-1).log().sum(-1)

    def log_prob(self, value):
        n = self.loc.shape[-1]
        apart = (value - self.loc).unsqueeze(-1)
        shape = list(apart.shape[:-2]) + [n, n]
        solved = _ops["linalg_solve_triangular"](self.scale_tril.expand(shape), apart, upper=False)
        return -0.5 * (n * math.log(2 * math.pi) + solved.square().sum([-2, -1])) - self._half_log_det()

    def entropy(self):
        n = self.loc.shape[-1]
        return 0.5 * n * (1.0 + math.log(2 * math.pi)) + self._half_log_det()
