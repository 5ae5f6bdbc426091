"""Kullback-Leibler divergences of distributions that few scripts compare."""

import math
from torch import _C, distributions as D
from torch.distributions.combined import _multivariate, _summed, kl_divergence, register_kl

_ops = _C._ops
_EULER = 0.57721566490153286060


def _infinite(p, q):
    """`p` has values where `q` has none."""
    return p.mean * 0 + math.inf if isinstance(p, (D.Poisson, D.Gamma, D.Exponential)) else p.entropy().detach() * 0 + math.inf


_POSITIVE = "Exponential Gamma Pareto Uniform Beta ContinuousBernoulli"
for _names, _others in (("Beta ContinuousBernoulli", "Pareto"), ("Exponential Gamma", "Beta ContinuousBernoulli Pareto Uniform"),
                        ("Gumbel Laplace Normal", _POSITIVE), ("Pareto", "Beta ContinuousBernoulli Uniform"),
                        ("Poisson", "Bernoulli Binomial")):
    for _name in _names.split():
        for _other in _others.split():
            register_kl(getattr(D, _name), getattr(D, _other))(_infinite)


def _where(wrong, made):
    return _ops["where"](wrong, math.inf, made)


def _positive(p, made):
    """`made`, where no value is below zero."""
    return _where(p.low < 0, made) if isinstance(p, D.Uniform) else made


def _normal(p, q):
    square = q.scale.square()
    return 0.5 * (square * (2 * math.pi)).log() + (p.variance + (p.mean - q.loc).square()) / (2 * square) - p.entropy()


def _exponential(p, q):
    return _positive(p, q.rate * p.mean - q.rate.log() - p.entropy())


def _xlogx(x):
    return _ops["xlogy"](x, x)


def _log_mean(p):
    """The mean of the logarithm."""
    if isinstance(p, D.Beta):
        return p.concentration1.digamma() - (p.concentration1 + p.concentration0).digamma()
    if isinstance(p, D.Exponential):
        return -_EULER - p.rate.log()
    if isinstance(p, D.Pareto):
        return p.scale.log() + 1 / p.alpha
    return (_xlogx(p.high) - _xlogx(p.low)) / (p.high - p.low) - 1


def _gamma(p, q):
    a = q.concentration
    return _positive(p, a.lgamma() - a * q.rate.log() - (a - 1) * _log_mean(p) + q.rate * p.mean - p.entropy())


def _gumbel(p, q):
    by = q.scale
    if isinstance(p, D.Exponential):
        falling = p.rate * by / (p.rate * by + 1)
    elif isinstance(p, D.Gamma):
        falling = (1 + 1 / (p.rate * by)).pow(-p.concentration)
    elif isinstance(p, D.Normal):
        falling = (-p.loc / by + 0.5 * (p.scale / by).square()).exp()
    else:
        falling = ((-p.low / by).exp() - (-p.high / by).exp()) * by / (p.high - p.low)
    return by.log() + (p.mean - q.loc) / by + (q.loc / by).exp() * falling - p.entropy()


def _continuous_bernoulli(p, q):
    made = -p.entropy() - p.mean * q.logits - (-q.probs).log1p() - q._log_norm()
    return _where((p.high >= 1) | (p.low <= 0), made) if isinstance(p, D.Uniform) else made


for _names, _other, _rule in (
    ("Beta ContinuousBernoulli Exponential Gamma Gumbel Laplace Pareto Uniform", D.Normal, _normal),
    ("Beta ContinuousBernoulli Gamma Pareto Uniform", D.Exponential, _exponential),
    ("Beta Exponential Pareto Uniform", D.Gamma, _gamma),
    ("Exponential Gamma Normal Uniform", D.Gumbel, _gumbel),
    ("Beta ContinuousBernoulli Uniform", D.ContinuousBernoulli, _continuous_bernoulli),
):
    for _name in _names.split():
        register_kl(getattr(D, _name), _other)(_rule)


@register_kl(D.Beta, D.Uniform)
def _(p, q):
    return _where((q.low > 0) | (q.high < 1), (q.high - q.low).log() - p.entropy())


@register_kl(D.ContinuousBernoulli, D.Uniform)
def _(p, q):
    return _where((q.low >= 0) | (q.high <= 1), (q.high - q.low).log() - p.entropy())


@register_kl(D.Uniform, D.Beta)
def _(p, q):
    a, b, wide = q.concentration1, q.concentration0, p.high - p.low
    below = (a - 1) * (_xlogx(p.high) - _xlogx(p.low) - wide) / wide
    above = (b - 1) * (_xlogx(1 - p.high) - _xlogx(1 - p.low) + wide) / wide
    return _where((p.high > 1) | (p.low < 0), above + a.lgamma() + b.lgamma() - (a + b).lgamma() - wide.log() - below)


@register_kl(D.Uniform, D.Pareto)
def _(p, q):
    wide = p.high - p.low
    return _where(p.low < q.scale, (q.alpha + 1) * _log_mean(p) - (q.alpha * q.scale.pow(q.alpha) * wide).log())


@register_kl(D.Pareto, D.Pareto)
def _(p, q):
    ratio = q.alpha / p.alpha
    return _where(p.scale < q.scale, q.alpha * (p.scale / q.scale).log() - ratio.log() + ratio - 1)


@register_kl(D.Normal, D.Laplace)
def _(p, q):
    apart = p.loc - q.loc
    r = apart / p.scale
    away = math.sqrt(2 / math.pi) * p.scale * (-0.5 * r * r).exp() + apart * (math.sqrt(0.5) * r).erf()
    return away / q.scale - (p.scale / q.scale).log() - 0.5 * (1 + math.log(0.5 * math.pi))


@register_kl(D.Cauchy, D.Cauchy)
def _(p, q):
    return ((p.scale + q.scale).square() + (p.loc - q.loc).square()).log() - (4 * p.scale * q.scale).log()


@register_kl(D.Bernoulli, D.Poisson)
def _(p, q):
    return q.rate - p.probs * q.rate.log() - p.entropy()


@register_kl(D.Binomial, D.Binomial)
def _(p, q):
    if (p.total_count < q.total_count).any():
        raise NotImplementedError("KL between Binomials where q.total_count > p.total_count is not implemented")
    made = p.total_count * (p.probs * (p.logits - q.logits) + (-p.probs).log1p() - (-q.probs).log1p())
    return _where(p.total_count > q.total_count, made)


@register_kl(D.TransformedDistribution, D.TransformedDistribution)
def _(p, q):
    if p.transforms != q.transforms or p.event_shape != q.event_shape:
        raise NotImplementedError
    return _summed(kl_divergence(p.base_dist, q.base_dist), len(p.event_shape) - len(p.base_dist.event_shape))


for _p, _q in ((D.LowRankMultivariateNormal,) * 2, (D.LowRankMultivariateNormal, D.MultivariateNormal),
               (D.MultivariateNormal, D.LowRankMultivariateNormal)):
    register_kl(_p, _q)(lambda p, q: _multivariate(*[d._dense() if hasattr(d, "_dense") else d for d in (p, q)]))
