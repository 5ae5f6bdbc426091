"""What distributions say of themselves: supports, constraints, modes, representations; and the circular, the continuous Bernoulli."""

import torch
import torch.distributions as D
from torch.distributions import constraints
from torch.distributions.multivariate_normal import MultivariateNormal
from torch.distributions.normal import Normal

torch.manual_seed(0)
T = torch.tensor
loc = torch.zeros(2)
for d in (D.Normal(0.0, 1.0), D.Bernoulli(0.3), D.Bernoulli(logits=T([0.1, 0.2])), D.Categorical(T([0.2, 0.8])), D.Beta(2.0, 3.0),
          D.Gamma(T([1.0, 2.0]), T([1.0, 1.0])), D.Dirichlet(T([2.0, 3.0, 4.0])), D.Exponential(2.0), D.Poisson(3.0), D.Geometric(0.3),
          D.Uniform(0.0, 2.0), D.Laplace(0.0, 1.0), D.HalfNormal(1.0), D.HalfCauchy(1.0), D.LogNormal(0.0, 1.0), D.StudentT(3.0),
          D.Chi2(3.0), D.Weibull(1.0, 2.0), D.Pareto(1.0, 2.0), D.InverseGamma(3.0, 2.0), MultivariateNormal(loc, torch.eye(2)),
          D.MultivariateNormal(loc.expand(3, 2), scale_tril=torch.eye(2)), D.Independent(Normal(torch.zeros(2, 3), torch.ones(2, 3)), 1),
          D.Binomial(10, T(0.3)), D.OneHotCategorical(T([0.1, 0.9])), D.VonMises(T(0.5), T(2.0)), D.ContinuousBernoulli(T(0.3)),
          D.LowRankMultivariateNormal(loc, torch.ones(2, 1), torch.ones(2)),
          D.MixtureSameFamily(D.Categorical(torch.ones(2)), D.Normal(loc, torch.ones(2)))):
    print(d, d.support, d.batch_shape, d.event_shape)
    for name in ("mean", "mode", "variance"):
        try:
            print(" ", name, getattr(d, name))
        except NotImplementedError:
            print(" ", name, "is not defined")
    print(" ", d.log_prob(d.sample()).shape, d.expand((2,) + tuple(d.batch_shape)).sample().shape)

print(D.Normal.arg_constraints, constraints.positive, constraints.interval(0, 1), constraints.simplex)
print(D.VonMises(T([0.0, 1.0]), T([1.0, 4.0])).sample((3,)), D.VonMises(T([0.0, 1.0]), T([1.0, 4.0])).log_prob(T([0.3, 0.4])))
c = D.ContinuousBernoulli(T([0.2, 0.5, 0.9]))
print(c.rsample((2,)), c.log_prob(T([0.3, 0.4, 0.1])), c.cdf(T([0.3, 0.4, 0.1])), c.entropy(), c.mean, c.variance)
low = D.LowRankMultivariateNormal(torch.zeros(3), torch.ones(3, 1), torch.ones(3))
print(low.rsample((2,)), low.log_prob(torch.ones(3)), low.entropy(), low.covariance_matrix)
precise = D.MultivariateNormal(loc, precision_matrix=T([[2.0, 0.5], [0.5, 1.0]]))
print(precise, precise.covariance_matrix, precise.log_prob(torch.ones(2)), precise.scale_tril)
for refused in (lambda: D.Normal(0.0, -1.0), lambda: D.Bernoulli(1.5), lambda: D.MultivariateNormal(loc, -torch.eye(2)),
                lambda: D.Beta(1.0, 1.0).log_prob(T(2.0)), lambda: D.HalfNormal(1.0).log_prob(T(-1.0))):
    try:
        print(refused())
    except ValueError as error:
        print(error)
print(D.transforms.ComposeTransform([D.transforms.ExpTransform(), D.transforms.AffineTransform(0.0, 2.0)]))
doubled = D.TransformedDistribution(D.Normal(0.0, 1.0), [D.AffineTransform(1.0, -2.0)])
print(doubled, doubled.support, doubled.cdf(T(0.3)), doubled.icdf(T(0.3)), D.LogNormal(0.0, 1.0).cdf(T(1.5)))


class Triangular(D.Distribution):
    """A distribution of one's own."""

    arg_constraints, support = {"low": constraints.real, "high": constraints.real}, constraints.real

    def __init__(self, low, high, validate_args=None):
        self.low, self.high = T(low), T(high)
        super().__init__(self.low.shape, validate_args=validate_args)

    def sample(self, sample_shape=()):
        u = torch.rand(self._extended_shape(sample_shape) + (2,))
        return self.low + (self.high - self.low) * u.mean(-1)


print(Triangular(0.0, 2.0), Triangular(0.0, 2.0).sample((2,)))


class Diagonal(D.Independent):
    def __init__(self, loc, scale, validate_args=None):
        super().__init__(D.Normal(loc, scale), 1, validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        return super().expand(batch_shape, self._get_checked_instance(Diagonal, _instance))


class Shifted(D.Distribution):
    arg_constraints, support = {"by": constraints.real}, constraints.real

    def __init__(self, by, validate_args=None):
        self.by = by
        super().__init__(by.shape, validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        new = self._get_checked_instance(Shifted, _instance)
        new.by = self.by.expand(batch_shape)
        super(Shifted, new).__init__(batch_shape, validate_args=False)
        new._validate_args = self._validate_args
        return new

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        return -(value - self.by).abs()


wide, far = Diagonal(torch.zeros(2), torch.ones(2)).expand((3,)), Shifted(torch.ones(1)).expand((2, 4))
print(type(wide).__name__, wide.batch_shape, wide.event_shape, wide.log_prob(torch.ones(3, 2)), tuple(far.batch_shape), far.log_prob(T(0.5)).shape)
