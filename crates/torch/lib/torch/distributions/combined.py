"""Distributions made of others, and the divergence between two."""

from torch import _C, Size
from torch.autograd import no_grad
from torch.distributions import constraints
from torch.distributions.counts import NegativeBinomial
from torch.distributions.continuous import Exponential, Gumbel, Laplace, Normal, Uniform
from torch.distributions.discrete import Bernoulli, Binomial, Categorical, Geometric, OneHotCategorical
from torch.distributions.distribution import Distribution
from torch.distributions.gamma import Beta, Dirichlet, Gamma, Poisson
from torch.distributions.multivariate import MultivariateNormal
from torch.distributions.transformed import HalfNormal, LogNormal
import math

_ops = _C._ops


def _summed(x, n):
    return x.sum(list(range(-n, 0))) if n else x


class Independent(Distribution):
    def __init__(self, base_distribution, reinterpreted_batch_ndims, validate_args=None):
        batch, event = tuple(base_distribution.batch_shape), tuple(base_distribution.event_shape)
        n = reinterpreted_batch_ndims
        if n > len(batch):
            raise ValueError(
                f"Expected reinterpreted_batch_ndims <= len(base_distribution.batch_shape), actual {n} vs {len(batch)}")
        self.base_dist, self.reinterpreted_batch_ndims = base_distribution, n
        self.has_rsample = base_distribution.has_rsample
        super().__init__(batch[:len(batch) - n], batch[len(batch) - n:] + event, validate_args)

    @property
    def has_enumerate_support(self):
        return not self.reinterpreted_batch_ndims and self.base_dist.has_enumerate_support

    @constraints.dependent_property
    def support(self):
        inner, n = self.base_dist.support, self.reinterpreted_batch_ndims
        return constraints.independent(inner, n) if n else inner

    @property
    def mean(self):
        return self.base_dist.mean

    @property
    def variance(self):
        return self.base_dist.variance

    @property
    def mode(self):
        return self.base_dist.mode

    def sample(self, sample_shape=()):
        return self.base_dist.sample(sample_shape)

    def rsample(self, sample_shape=()):
        return self.base_dist.rsample(sample_shape)

    def log_prob(self, value):
        return _summed(self.base_dist.log_prob(value), self.reinterpreted_batch_ndims)

    def entropy(self):
        return _summed(self.base_dist.entropy(), self.reinterpreted_batch_ndims)

    def __repr__(self):
        return f"Independent({self.base_dist}, {self.reinterpreted_batch_ndims})"


class MixtureSameFamily(Distribution):
    has_rsample = False

    def __init__(self, mixture_distribution, component_distribution, validate_args=None):
        if not isinstance(mixture_distribution, Categorical):
            raise ValueError(" The Mixture distribution needs to be an instance of torch.distributions.Categorical")
        of, parts = mixture_distribution.logits.shape[-1], tuple(component_distribution.batch_shape[-1:])
        if parts and of != parts[0]:
            raise ValueError(f"`mixture_distribution component` ({of}) does not equal `component_distribution.batch_shape[-1]` ({parts[0]})")
        self._mixture, self._component = mixture_distribution, component_distribution
        self._event_ndims = len(component_distribution.event_shape)
        super().__init__(component_distribution.batch_shape[:-1], component_distribution.event_shape, validate_args)

    @constraints.dependent_property
    def support(self):
        return constraints.MixtureSameFamilyConstraint(self._component.support)

    mixture_distribution = property(lambda self: self._mixture)
    component_distribution = property(lambda self: self._component)

    def _weights(self):
        return self._mixture.probs.reshape(list(self._mixture.probs.shape) + [1] * self._event_ndims)

    @property
    def mean(self):
        return (self._weights() * self._component.mean).sum(-1 - self._event_ndims)

    @property
    def variance(self):
        weights, at = self._weights(), -1 - self._event_ndims
        inside = (weights * self._component.variance).sum(at)
        return inside + (weights * (self._component.mean - self.mean.unsqueeze(at)).pow(2)).sum(at)

    def cdf(self, value):
        return (self._component.cdf(value.unsqueeze(-1 - self._event_ndims)) * self._mixture.probs).sum(-1)

    def log_prob(self, value):
        self._validate_sample(value)
        each = self._component.log_prob(value.unsqueeze(-1 - self._event_ndims))
        return (each + self._mixture.logits.log_softmax(-1)).logsumexp(-1)

    @no_grad()
    def sample(self, sample_shape=()):
        which = self._mixture.sample(sample_shape)
        drawn = self._component.sample(sample_shape)
        n = self._event_ndims
        index = which.reshape(list(which.shape) + [1] * (n + 1)).expand(list(which.shape) + [1] + list(self._event_shape))
        return drawn.gather(-1 - n, index).squeeze(-1 - n)

    def __repr__(self):
        return f"MixtureSameFamily(\n  {self._mixture},\n  {self._component})"


_KL = {}


def register_kl(type_p, type_q):
    def register(function):
        _KL[type_p, type_q] = function
        return function
    return register


def _kinds(of):
    # These have what a Bernoulli distribution has, but are none.
    return [k for k in of.__mro__ if k is not Bernoulli or not issubclass(of, (Binomial, Geometric, NegativeBinomial))]


def kl_divergence(p, q):
    for _ in range(2):
        for a in _kinds(type(p)):
            for b in _kinds(type(q)):
                if (a, b) in _KL:
                    return _KL[a, b](p, q)
        import torch._rare.divergences
    raise NotImplementedError(f"No KL(p || q) is implemented for p type {type(p).__name__} and q type {type(q).__name__}")


@register_kl(Normal, Normal)
def _normal(p, q):
    ratio = (p.scale / q.scale).square()
    moved = ((p.loc - q.loc) / q.scale).square()
    return 0.5 * (ratio + moved - 1 - ratio.log())


@register_kl(Bernoulli, Bernoulli)
def _bernoulli(p, q):
    def part(p, q, ours, theirs):
        made = p * (_ops["softplus"](-theirs) - _ops["softplus"](-ours))
        return _ops["where"](p == 0, 0.0, _ops["where"](q == 0, math.inf, made))
    return part(p.probs, q.probs, p.logits, q.logits) + part(1 - p.probs, 1 - q.probs, -p.logits, -q.logits)


@register_kl(Categorical, Categorical)
def _categorical(p, q):
    each = _ops["where"](q.probs == 0, math.inf, p.probs * (p.logits - q.logits))
    return _ops["where"](p.probs == 0, 0.0, each).sum(-1)


@register_kl(OneHotCategorical, OneHotCategorical)
def _one_hot(p, q):
    return _categorical(p._categorical, q._categorical)


@register_kl(Uniform, Uniform)
def _uniform(p, q):
    made = ((q.high - q.low) / (p.high - p.low)).log()
    return _ops["where"]((q.low > p.low) | (q.high < p.high), math.inf, made)


@register_kl(Exponential, Exponential)
def _exponential(p, q):
    ratio = q.rate / p.rate
    return ratio - 1 - ratio.log()


@register_kl(Laplace, Laplace)
def _laplace(p, q):
    apart = (p.loc - q.loc).abs()
    ratio = p.scale / q.scale
    return -ratio.log() + apart / q.scale + ratio * (-apart / p.scale).exp() - 1


@register_kl(Normal, Uniform)
def _outside(p, q):
    return p.loc * 0 + math.inf


@register_kl(Independent, Independent)
def _independent(p, q):
    if p.reinterpreted_batch_ndims != q.reinterpreted_batch_ndims:
        raise NotImplementedError("KL of Independent distributions of different dimensions")
    return _summed(kl_divergence(p.base_dist, q.base_dist), p.reinterpreted_batch_ndims)


@register_kl(MultivariateNormal, MultivariateNormal)
def _multivariate(p, q):
    n = p.loc.shape[-1]
    solve = _ops["linalg_solve_triangular"]
    halves = q._half_log_det() - p._half_log_det()
    spread = solve(q.scale_tril, p.scale_tril, upper=False).square().sum([-2, -1])
    moved = solve(q.scale_tril, (q.loc - p.loc).unsqueeze(-1), upper=False).square().sum([-2, -1])
    return halves + 0.5 * (spread + moved - n)


@register_kl(Gamma, Gamma)
def _gamma(p, q):
    a, b = p.concentration, q.concentration
    return b * (p.rate / q.rate).log() + b.lgamma() - a.lgamma() + (a - b) * a.digamma() + (q.rate - p.rate) * (a / p.rate)


@register_kl(Beta, Beta)
def _beta(p, q):
    a, b, c, d = p.concentration1, p.concentration0, q.concentration1, q.concentration0
    whole, other = a + b, c + d
    t = c.lgamma() + d.lgamma() + whole.lgamma() - a.lgamma() - b.lgamma() - other.lgamma()
    return t + (a - c) * a.digamma() + (b - d) * b.digamma() + (other - whole) * whole.digamma()


@register_kl(Dirichlet, Dirichlet)
def _dirichlet(p, q):
    a, b = p.concentration, q.concentration
    whole = a.sum(-1)
    t = whole.lgamma() - b.sum(-1).lgamma() - (a.lgamma() - b.lgamma()).sum(-1)
    return t + ((a - b) * (a.digamma() - whole.digamma().unsqueeze(-1))).sum(-1)


@register_kl(Poisson, Poisson)
def _poisson(p, q):
    return p.rate * (p.rate.log() - q.rate.log()) - (p.rate - q.rate)


@register_kl(Geometric, Geometric)
def _geometric(p, q):
    return -p.entropy() - (-q.probs).log1p() / p.probs - q.logits


@register_kl(HalfNormal, HalfNormal)
def _half_normal(p, q):
    ratio = (p.scale / q.scale).square()
    return 0.5 * (ratio - 1 - ratio.log())


@register_kl(Gumbel, Gumbel)
def _gumbel(p, q):
    ratio, euler = p.scale / q.scale, 0.57721566490153286060
    apart = (p.loc - q.loc) / q.scale
    return -ratio.log() + ratio * euler - 1 - euler + apart + ((1 + ratio).lgamma() - apart).exp()
