"""Distributions of counts that are made of others."""

from torch import _C
from torch.autograd import no_grad
from torch.distributions.discrete import Bernoulli, Binomial, Categorical, _one_of
from torch.distributions import constraints
from torch.distributions.distribution import Distribution, _tensors
from torch.distributions.gamma import Gamma, Poisson
from torch.nn import functional as F

_ops = _C._ops


class NegativeBinomial(Bernoulli):
    arg_constraints = {"total_count": constraints.greater_than_eq(0), "probs": constraints.half_open_interval(0.0, 1.0),
                       "logits": constraints.real}
    support = constraints.nonnegative_integer
    has_enumerate_support = False
    enumerate_support = Distribution.enumerate_support

    def __init__(self, total_count, probs=None, logits=None, validate_args=None):
        _one_of(probs, logits)
        (count, value), shape = _tensors(total_count, logits if probs is None else probs)
        self.__dict__["logits" if probs is None else "probs"] = value
        self.total_count = count.to(value.dtype)
        Distribution.__init__(self, value.shape, validate_args=validate_args)

    @property
    def mean(self):
        return self.total_count * self.logits.exp()

    @property
    def mode(self):
        return ((self.total_count - 1) * self.logits.exp()).floor().clamp(min=0.0)

    @property
    def variance(self):
        return self.mean / (-self.logits).sigmoid()

    @no_grad()
    def sample(self, sample_shape=()):
        rate = Gamma(self.total_count, (-self.logits).exp(), validate_args=False).sample(sample_shape)
        return Poisson(rate, validate_args=False).sample()

    def log_prob(self, value):
        self._validate_sample(value)
        n = self.total_count
        likely = n * F.logsigmoid(-self.logits) + value * F.logsigmoid(self.logits)
        # `lgamma(0)` is infinite, and the probability of 0 in 0 trials is one.
        chosen = (1.0 + value).lgamma() + n.lgamma() - (n + value).lgamma()
        return likely - chosen.masked_fill(n + value == 0.0, 0.0)

    entropy = Distribution.entropy


class Multinomial(Distribution):
    arg_constraints = Categorical.arg_constraints

    def __init__(self, total_count=1, probs=None, logits=None, validate_args=None):
        if not isinstance(total_count, int):
            raise NotImplementedError("inhomogeneous total_count is not supported")
        self.total_count = total_count
        self._categorical = Categorical(probs, logits)
        super().__init__(self._categorical.batch_shape, self.probs.shape[-1:], validate_args)

    @constraints.dependent_property(is_discrete=True, event_dim=1)
    def support(self):
        return constraints.multinomial(self.total_count)

    probs = property(lambda self: self._categorical.probs)
    logits = property(lambda self: self._categorical.logits)

    @property
    def mean(self):
        return self.probs * self.total_count

    @property
    def variance(self):
        return self.total_count * self.probs * (1 - self.probs)

    @no_grad()
    def sample(self, sample_shape=()):
        drawn = self._categorical.sample((self.total_count,) + tuple(sample_shape))
        drawn = drawn.permute(list(range(1, drawn.dim())) + [0])
        counts = _C.full(self._extended_shape(sample_shape), 0.0, self.probs.dtype)
        return counts.scatter_add(-1, drawn, drawn * 0 + 1.0)

    def entropy(self):
        n, each = self.total_count, Binomial(self.total_count, probs=self.probs)
        values = each.enumerate_support(False)[1:]
        weighed = each.log_prob(values).exp() * (values + 1).lgamma()
        return n * self._categorical.entropy() - _C.tensor(float(n), self.probs.dtype).add(1).lgamma() + weighed.sum([0, -1])

    def log_prob(self, value):
        self._validate_sample(value)
        logits = _ops["where"]((value == 0) & (self.logits == float("-inf")), 0.0, self.logits)
        return (value.sum(-1) + 1).lgamma() - (value + 1).lgamma().sum(-1) + (logits * value).sum(-1)
