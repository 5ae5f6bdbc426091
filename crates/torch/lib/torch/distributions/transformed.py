"""Distributions of real numbers that are simpler ones, transformed."""

from torch import _C
from torch.distributions.continuous import Cauchy, Exponential, Normal, Uniform
from torch.distributions.discrete import Bernoulli, Categorical, _clamped
from torch.distributions.distribution import Distribution, _positive, _tensors
from torch.distributions.gamma import Gamma, _POSITIVE
from torch.distributions.transforms import (
    AffineTransform, ExpTransform, PowerTransform, SigmoidTransform, StickBreakingTransform, TransformedDistribution,
)
import math

_ops = _C._ops
_EULER = 0.57721566490153286060


class Pareto(TransformedDistribution):
    _parameters = (("alpha", _POSITIVE, _positive), ("scale", _POSITIVE, _positive))

    def __init__(self, scale, alpha, validate_args=None):
        (self.scale, self.alpha), _ = _tensors(scale, alpha)
        super().__init__(Exponential(alpha + 0 * scale, validate_args), [ExpTransform(), AffineTransform(0, self.scale)], validate_args)

    @property
    def mean(self):
        a = self.alpha.clamp(min=1)
        return a * self.scale / (a - 1)

    @property
    def mode(self):
        return self.scale

    @property
    def variance(self):
        a = self.alpha.clamp(min=2)
        return self.scale.pow(2) * a / ((a - 1).pow(2) * (a - 2))

    def entropy(self):
        return (self.scale / self.alpha).log() + (1 + self.alpha.reciprocal())


class Weibull(TransformedDistribution):
    _parameters = (("scale", _POSITIVE, _positive), ("concentration", _POSITIVE, _positive))

    def __init__(self, scale, concentration, validate_args=None):
        (self.scale, self.concentration), _ = _tensors(scale, concentration)
        self.concentration_reciprocal = self.concentration.reciprocal()
        one = 1.0 + 0 * scale + 0 * concentration
        parts = [PowerTransform(self.concentration_reciprocal), AffineTransform(0, self.scale)]
        super().__init__(Exponential(one, validate_args), parts, validate_args)

    @property
    def mean(self):
        return self.scale * (1 + self.concentration_reciprocal).lgamma().exp()

    @property
    def mode(self):
        return self.scale * ((self.concentration - 1) / self.concentration) ** self.concentration_reciprocal

    @property
    def variance(self):
        r = self.concentration_reciprocal
        return self.scale.pow(2) * ((1 + 2 * r).lgamma().exp() - (2 * (1 + r).lgamma()).exp())

    def entropy(self):
        r = self.concentration_reciprocal
        return _EULER * (1 - r) + (self.scale * r).log() + 1


class Kumaraswamy(TransformedDistribution):
    _parameters = (("concentration1", _POSITIVE, _positive), ("concentration0", _POSITIVE, _positive))

    def __init__(self, concentration1, concentration0, validate_args=None):
        (a, b), _ = _tensors(concentration1, concentration0)
        self.concentration1, self.concentration0 = a, b
        zero = 0.0 * concentration1 + 0 * concentration0
        parts = [PowerTransform(b.reciprocal()), AffineTransform(1.0, -1.0), PowerTransform(a.reciprocal())]
        super().__init__(Uniform(zero, zero + 1.0, validate_args), parts, validate_args)

    def _moment(self, n):
        a, b = self.concentration1, self.concentration0
        arg = 1 + n / a
        return (b.log() + arg.lgamma() + b.lgamma() - (arg + b).lgamma()).exp()

    @property
    def mean(self):
        return self._moment(1)

    @property
    def variance(self):
        return self._moment(2) - self.mean.pow(2)

    def entropy(self):
        a, b = self.concentration1, self.concentration0
        return 1 - b.reciprocal() + (1 - a.reciprocal()) * ((b + 1).digamma() + _EULER) - a.log() - b.log()


class InverseGamma(TransformedDistribution):
    _parameters = (("concentration", _POSITIVE, _positive), ("rate", _POSITIVE, _positive))

    def __init__(self, concentration, rate, validate_args=None):
        base = Gamma(concentration, rate, validate_args)
        self.concentration, self.rate = base.concentration, base.rate
        super().__init__(base, PowerTransform(-1.0), validate_args)

    @property
    def mean(self):
        return _ops["where"](self.concentration > 1, self.rate / (self.concentration - 1), math.inf)

    @property
    def mode(self):
        return self.rate / (self.concentration + 1)

    @property
    def variance(self):
        a = self.concentration
        return _ops["where"](a > 2, self.rate.square() / ((a - 1).square() * (a - 2)), math.inf)

    def entropy(self):
        a = self.concentration
        return a + self.rate.log() + a.lgamma() - (1 + a) * a.digamma()


class HalfCauchy(Distribution):
    _shown = False
    has_rsample = True
    _parameters = (("scale", _POSITIVE, _positive),)

    def __init__(self, scale, validate_args=None):
        self._base = Cauchy(0.0 * scale, scale, validate_args=False)
        self.scale = self._base.scale
        super().__init__(self._base.batch_shape, validate_args=validate_args)

    @property
    def mean(self):
        return self.scale * 0 + math.inf

    @property
    def mode(self):
        return self.scale * 0

    @property
    def variance(self):
        return self._base.variance

    def rsample(self, sample_shape=()):
        return self._base.rsample(sample_shape).abs()

    def log_prob(self, value):
        self._check_sample(value, "GreaterThanEq(lower_bound=0.0)", lambda v: v >= 0)
        return self._base.log_prob(value) + math.log(2)

    def cdf(self, value):
        return 2 * self._base.cdf(value) - 1

    def icdf(self, value):
        return self._base.icdf((value + 1) / 2)

    def entropy(self):
        return self._base.entropy() - math.log(2)


class LogisticNormal(TransformedDistribution):
    def __init__(self, loc, scale, validate_args=None):
        base = Normal(loc, scale, validate_args)
        if not base.batch_shape:
            base = base.expand([1])
        self.loc, self.scale = base.loc, base.scale
        super().__init__(base, StickBreakingTransform(), validate_args)


class _Logits(Distribution):
    """What `_of` becomes where its samples are not whole, in logarithms."""

    has_rsample, _shared = True, ("temperature",)
    probs = property(lambda self: self._of.probs)
    logits = property(lambda self: self._of.logits)

    def _log_temperature(self):
        t = self.temperature
        return t.log() if isinstance(t, _C.Tensor) else math.log(t)


class _Relaxed(TransformedDistribution):
    temperature = property(lambda self: self.base_dist.temperature)
    probs = property(lambda self: self.base_dist.probs)
    logits = property(lambda self: self.base_dist.logits)


class LogitRelaxedBernoulli(_Logits):
    _parameters = Bernoulli._parameters

    def __init__(self, temperature, probs=None, logits=None, validate_args=None):
        self.temperature = temperature
        self._of = Bernoulli(probs, logits, validate_args)
        super().__init__(self._of.batch_shape, validate_args=validate_args)

    def rsample(self, sample_shape=()):
        shape = self._extended_shape(sample_shape)
        probs = _clamped(self.probs.expand(shape))
        u = _clamped(_C.uniform(shape, 0.0, 1.0, probs.dtype, None))
        return (u.log() - (-u).log1p() + probs.log() - (-probs).log1p()) / self.temperature

    def log_prob(self, value):
        apart = self.logits - value * self.temperature
        return self._log_temperature() + apart - 2 * apart.exp().log1p()


class RelaxedBernoulli(_Relaxed):
    def __init__(self, temperature, probs=None, logits=None, validate_args=None):
        super().__init__(LogitRelaxedBernoulli(temperature, probs, logits), SigmoidTransform(), validate_args)


class ExpRelaxedCategorical(_Logits):
    """The logarithm of a point of the simplex near a corner (Maddison et al., "The Concrete Distribution", 2017)."""

    def __init__(self, temperature, probs=None, logits=None, validate_args=None):
        self.temperature = temperature
        self._of = Categorical(probs, logits)
        super().__init__(self._of.batch_shape, self.logits.shape[-1:], validate_args)

    def rsample(self, sample_shape=()):
        shape = self._extended_shape(sample_shape)
        u = _clamped(_C.uniform(shape, 0.0, 1.0, self.logits.dtype, None))
        scores = (self.logits - (-u.log()).log()) / self.temperature
        return scores - scores.logsumexp(-1, keepdim=True)

    def log_prob(self, value):
        n = self.logits.shape[-1]
        score = self.logits - value * self.temperature
        score = (score - score.logsumexp(-1, keepdim=True)).sum(-1)
        return score + math.lgamma(n) + (n - 1) * self._log_temperature()


class RelaxedOneHotCategorical(_Relaxed):
    def __init__(self, temperature, probs=None, logits=None, validate_args=None):
        super().__init__(ExpRelaxedCategorical(temperature, probs, logits), ExpTransform(), validate_args)


class FisherSnedecor(Distribution):
    has_rsample = True
    _parameters = (("df1", _POSITIVE, _positive), ("df2", _POSITIVE, _positive))

    def __init__(self, df1, df2, validate_args=None):
        (self.df1, self.df2), shape = _tensors(df1, df2)
        super().__init__(shape, validate_args=validate_args)

    @property
    def mean(self):
        return _ops["where"](self.df2 > 2, self.df2 / (self.df2 - 2), math.nan)

    @property
    def variance(self):
        a, b = self.df1, self.df2
        return _ops["where"](b > 4, 2 * b.pow(2) * (a + b - 2) / (a * (b - 2).pow(2) * (b - 4)), math.nan)

    def rsample(self, sample_shape=()):
        above = Gamma(self.df1 * 0.5, self.df1).rsample(sample_shape)
        below = Gamma(self.df2 * 0.5, self.df2).rsample(sample_shape)
        shape = self._extended_shape(sample_shape)
        return (above.reshape(shape) / below.reshape(shape)).clamp(min=1.1754943508222875e-38)

    def log_prob(self, value):
        a, b, ratio = self.df1 * 0.5, self.df2 * 0.5, self.df1 / self.df2
        t = (a + b).lgamma() - a.lgamma() - b.lgamma() + a * ratio.log() + (a - 1) * value.log()
        return t - (a + b) * (ratio * value).log1p()
