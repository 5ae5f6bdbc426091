"""Distributions of real numbers."""

from torch import _C, Size, finfo
from torch._C import Tensor
from torch.distributions import constraints
from torch.distributions.distribution import Distribution, _tensors
import math

_ops = _C._ops


class _LocScale(Distribution):
    has_rsample = True
    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.real

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
        self._validate_sample(value)
        return -((value - self.loc) ** 2) / (2 * self.scale ** 2) - self.scale.log() - math.log(math.sqrt(2 * math.pi))

    def entropy(self):
        return 0.5 + 0.5 * math.log(2 * math.pi) + self.scale.log()

    def cdf(self, value):
        return 0.5 * (1 + _ops["erf"]((value - self.loc) / (self.scale * math.sqrt(2))))

    def icdf(self, value):
        return self.loc + self.scale * _ops["erfinv"](2 * value - 1) * math.sqrt(2)


class Laplace(_LocScale):
    @property
    def variance(self):
        return 2 * self.scale.square()

    def rsample(self, sample_shape=()):
        u = _C.uniform(self._extended_shape(sample_shape), finfo(self.loc.dtype).eps - 1, 1, self.loc.dtype, None)
        return self.loc - self.scale * u.sign() * _ops["log1p"](-u.abs())

    def log_prob(self, value):
        self._validate_sample(value)
        return -(2 * self.scale).log() - (value - self.loc).abs() / self.scale

    def entropy(self):
        return 1 + (2 * self.scale).log()

    def cdf(self, value):
        return 0.5 - 0.5 * (value - self.loc).sign() * _ops["expm1"](-(value - self.loc).abs() / self.scale)

    def icdf(self, value):
        term = value - 0.5
        return self.loc - self.scale * term.sign() * _ops["log1p"](-2 * term.abs())

    @property
    def stddev(self):
        return math.sqrt(2) * self.scale


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
        self._validate_sample(value)
        y = (self.loc - value) / self.scale
        return (y - y.exp()) - self.scale.log()

    def entropy(self):
        return self.scale.log() + (1 + 0.57721566490153286060)

    def cdf(self, value):
        return (-((self.loc - value) / self.scale).exp()).exp()

    def icdf(self, value):
        return self.loc - self.scale * (-value.log()).log()

    @property
    def stddev(self):
        return math.pi / math.sqrt(6) * self.scale


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
        self._validate_sample(value)
        return -math.log(math.pi) - self.scale.log() - _ops["log1p"](((value - self.loc) / self.scale) ** 2)

    def entropy(self):
        return math.log(4 * math.pi) + self.scale.log()


class Uniform(Distribution):
    has_rsample = True
    arg_constraints = {"low": constraints.real, "high": constraints.real}

    def __init__(self, low, high, validate_args=None):
        (self.low, self.high), shape = _tensors(low, high)
        super().__init__(shape, validate_args=validate_args)
        if self._validate_args and not (self.low.detach() < self.high.detach()).all().item():
            raise ValueError("Uniform is not defined when low>= high")

    @constraints.dependent_property
    def support(self):
        return constraints.interval(self.low, self.high)

    @property
    def mean(self):
        return (self.high + self.low) / 2

    @property
    def mode(self):
        return self.high * float("nan")

    @property
    def variance(self):
        return (self.high - self.low).square() / 12

    def rsample(self, sample_shape=()):
        u = _C.uniform(self._extended_shape(sample_shape), 0.0, 1.0, self.low.dtype, None)
        return self.low + u * (self.high - self.low)

    def log_prob(self, value):
        self._validate_sample(value)
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
    arg_constraints = {"rate": constraints.positive}
    support = constraints.nonnegative

    def __init__(self, rate, validate_args=None):
        (self.rate,), shape = _tensors(rate)
        super().__init__(shape, validate_args=validate_args)

    @property
    def mean(self):
        return self.rate.reciprocal()

    @property
    def mode(self):
        return self.rate * 0

    @property
    def stddev(self):
        return self.rate.reciprocal()

    @property
    def variance(self):
        return self.rate.pow(-2)

    def rsample(self, sample_shape=()):
        return _C.exponential(self._extended_shape(sample_shape), 1.0, None) / self.rate

    def log_prob(self, value):
        self._validate_sample(value)
        return self.rate.log() - self.rate * value

    def entropy(self):
        return 1.0 - self.rate.log()

    def cdf(self, value):
        return 1 - (-self.rate * value).exp()

    def icdf(self, value):
        return -_ops["log1p"](-value) / self.rate


class GeneralizedPareto(Distribution):
    """Tails of other distributions: of a concentration of zero the exponential distribution, of more Pareto's."""

    has_rsample = True
    arg_constraints = {"loc": constraints.real, "scale": constraints.positive, "concentration": constraints.real}

    def __init__(self, loc, scale, concentration, validate_args=None):
        (self.loc, self.scale, self.concentration), shape = _tensors(loc, scale, concentration)
        super().__init__(shape, validate_args=validate_args)

    @property
    def support(self):
        c = self.concentration
        return constraints.interval(self.loc, _ops["where"](c < 0, self.loc - self.scale / c, math.inf))

    mode = property(lambda self: self.loc)

    @property
    def mean(self):
        c = self.concentration
        return _ops["where"](c < 1, self.loc + self.scale / (1 - _ops["where"](c < 1, c, 0.5)), math.nan)

    @property
    def variance(self):
        c = self.concentration
        safe = _ops["where"](c < 0.5, c, 0.25)
        return _ops["where"](c < 0.5, self.scale ** 2 / ((1 - safe) ** 2 * (1 - 2 * safe)), math.nan)

    def rsample(self, sample_shape=()):
        return self.icdf(_C.uniform(self._extended_shape(sample_shape), 0.0, 1.0, self.loc.dtype, None))

    def _parts(self):
        """Whether the concentration is zero, and one to divide by."""
        zero = self.concentration.abs() <= 1e-8
        return zero, _ops["where"](zero, 1.0, self.concentration)

    def log_prob(self, value):
        self._validate_sample(value)
        z = (value - self.loc) / self.scale
        zero, c = self._parts()
        y = 1 / c + 1 + 0 * z
        return -self.scale.log() - _ops["where"](zero, z, _ops["where"](y == 0, y, y * _ops["log1p"](c * z)))

    def log_survival_function(self, value):
        self._validate_sample(value)
        z = (value - self.loc) / self.scale
        zero, c = self._parts()
        return _ops["where"](zero, -z, -_ops["log1p"](c * z) / c)

    def log_cdf(self, value):
        return _ops["log1p"](-self.log_survival_function(value).exp())

    def cdf(self, value):
        return self.log_cdf(value).exp()

    def icdf(self, value):
        log = _ops["log1p"](-value)
        zero, c = self._parts()
        return _ops["where"](zero, self.loc - self.scale * log, self.loc + self.scale / c * _ops["expm1"](-c * log))

    def entropy(self):
        return (self.scale.log() + self.concentration + 1).expand(self._batch_shape)
