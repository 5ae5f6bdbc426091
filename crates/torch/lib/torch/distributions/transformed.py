"""Distributions of real numbers that are simpler ones, transformed."""

from torch import _C
from torch.distributions.continuous import Cauchy, Exponential, Normal, Uniform
from torch.distributions.discrete import Bernoulli, Categorical, _clamped
from torch.distributions import constraints
from torch.distributions.distribution import Distribution, _tensors
from torch.distributions.gamma import Gamma
from torch.distributions.transforms import (
    AbsTransform, AffineTransform, ExpTransform, PowerTransform, SigmoidTransform, StickBreakingTransform, TransformedDistribution,
)
import math

_ops = _C._ops
_EULER = 0.57721566490153286060


class Pareto(TransformedDistribution):
    arg_constraints = {"alpha": constraints.positive, "scale": constraints.positive}

    def __init__(self, scale, alpha, validate_args=None):
        (self.scale, self.alpha), _ = _tensors(scale, alpha)
        super().__init__(Exponential(alpha + 0 * scale, validate_args), [ExpTransform(), AffineTransform(0, self.scale)], validate_args)

    @constraints.dependent_property(is_discrete=False, event_dim=0)
    def support(self):
        return constraints.greater_than_eq(self.scale)

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
    arg_constraints = {"scale": constraints.positive, "concentration": constraints.positive}
    support = constraints.positive

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
    arg_constraints = {"concentration1": constraints.positive, "concentration0": constraints.positive}
    support = constraints.unit_interval

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
    def mode(self):
        a, b = self.concentration1, self.concentration0
        mode = (b.reciprocal() * (-b).log1p() - (-b * a).log1p()).exp()
        return mode.masked_fill((a < 1) | (b < 1), math.nan)

    @property
    def variance(self):
        return self._moment(2) - self.mean.pow(2)

    def entropy(self):
        a, b = self.concentration1, self.concentration0
        return 1 - b.reciprocal() + (1 - a.reciprocal()) * ((b + 1).digamma() + _EULER) - a.log() - b.log()


class InverseGamma(TransformedDistribution):
    arg_constraints = {"concentration": constraints.positive, "rate": constraints.positive}
    support = constraints.positive
    concentration = property(lambda self: self.base_dist.concentration)
    rate = property(lambda self: self.base_dist.rate)

    def __init__(self, concentration, rate, validate_args=None):
        super().__init__(Gamma(concentration, rate, validate_args), PowerTransform(-1.0), validate_args)

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


class LogNormal(TransformedDistribution):
    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.positive
    loc = property(lambda self: self.base_dist.loc)
    scale = property(lambda self: self.base_dist.scale)

    def __init__(self, loc, scale, validate_args=None):
        super().__init__(Normal(loc, scale, validate_args), ExpTransform(), validate_args)

    @property
    def mean(self):
        return (self.loc + self.scale.square() / 2).exp()

    @property
    def mode(self):
        return (self.loc - self.scale.square()).exp()

    @property
    def variance(self):
        return (self.scale.square().exp() - 1) * (2 * self.loc + self.scale.square()).exp()

    def entropy(self):
        return self.base_dist.entropy() + self.loc


class _Half(TransformedDistribution):
    """The size of numbers that are distributed alike on both sides of zero."""

    arg_constraints, support = {"scale": constraints.positive}, constraints.nonnegative
    scale = property(lambda self: self.base_dist.scale)

    @property
    def mode(self):
        return self.scale * 0

    def log_prob(self, value):
        self._validate_sample(value)
        inside = self.base_dist.log_prob(value) + math.log(2)
        return _ops["where"](value >= 0, inside, -math.inf)

    def cdf(self, value):
        self._validate_sample(value)
        return 2 * self.base_dist.cdf(value) - 1

    def icdf(self, value):
        return self.base_dist.icdf((value + 1) / 2)

    def entropy(self):
        return self.base_dist.entropy() - math.log(2)


class HalfNormal(_Half):
    def __init__(self, scale, validate_args=None):
        super().__init__(Normal(0, scale, validate_args=False), AbsTransform(), validate_args)

    @property
    def mean(self):
        return self.scale * math.sqrt(2 / math.pi)

    @property
    def variance(self):
        return self.scale.square() * (1 - 2 / math.pi)


class HalfCauchy(_Half):
    def __init__(self, scale, validate_args=None):
        super().__init__(Cauchy(0, scale, validate_args=False), AbsTransform(), validate_args)

    @property
    def mean(self):
        return self.scale * 0 + math.inf

    @property
    def variance(self):
        return self.base_dist.variance


class LogisticNormal(TransformedDistribution):
    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.simplex
    loc = property(lambda self: self.base_dist.base_dist.loc)
    scale = property(lambda self: self.base_dist.base_dist.scale)

    def __init__(self, loc, scale, validate_args=None):
        base = Normal(loc, scale, validate_args)
        if not base.batch_shape:
            base = base.expand([1])
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
    arg_constraints, support = Bernoulli.arg_constraints, constraints.real

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
    arg_constraints, support = Bernoulli.arg_constraints, constraints.unit_interval

    def __init__(self, temperature, probs=None, logits=None, validate_args=None):
        super().__init__(LogitRelaxedBernoulli(temperature, probs, logits), SigmoidTransform(), validate_args)


class ExpRelaxedCategorical(_Logits):
    """The logarithm of a point of the simplex near a corner (Maddison et al., "The Concrete Distribution", 2017)."""

    arg_constraints, support = Categorical.arg_constraints, constraints.real_vector

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
    arg_constraints, support = Categorical.arg_constraints, constraints.simplex

    def __init__(self, temperature, probs=None, logits=None, validate_args=None):
        super().__init__(ExpRelaxedCategorical(temperature, probs, logits), ExpTransform(), validate_args)


class FisherSnedecor(Distribution):
    has_rsample = True
    arg_constraints = {"df1": constraints.positive, "df2": constraints.positive}
    support = constraints.positive

    def __init__(self, df1, df2, validate_args=None):
        (self.df1, self.df2), shape = _tensors(df1, df2)
        super().__init__(shape, validate_args=validate_args)

    @property
    def mean(self):
        return _ops["where"](self.df2 > 2, self.df2 / (self.df2 - 2), math.nan)

    @property
    def mode(self):
        mode = (self.df1 - 2) / self.df1 * self.df2 / (self.df2 + 2)
        return mode.masked_fill(self.df1 <= 2, math.nan)

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
        self._validate_sample(value)
        a, b, ratio = self.df1 * 0.5, self.df2 * 0.5, self.df1 / self.df2
        t = (a + b).lgamma() - a.lgamma() - b.lgamma() + a * ratio.log() + (a - 1) * value.log()
        return t - (a + b) * (ratio * value).log1p()
