"""torch.distributions: those that scripts use."""

import _missing
from torch.distributions.distribution import Distribution
from torch.distributions.continuous import (
    Cauchy, Exponential, Gumbel, HalfNormal, Laplace, LogNormal, MultivariateNormal, Normal, Uniform,
)
from torch.distributions.discrete import Bernoulli, Binomial, Categorical, Geometric, OneHotCategorical, OneHotCategoricalStraightThrough
from torch.distributions.gamma import Beta, Chi2, Dirichlet, Gamma, Poisson, StudentT
from torch.distributions import transforms
from torch.distributions.transforms import (
    AffineTransform, ComposeTransform, ExpTransform, PowerTransform, SigmoidTransform, SoftplusTransform, TanhTransform, Transform,
    TransformedDistribution,
)
from torch.distributions.combined import Independent, MixtureSameFamily, kl_divergence, register_kl


__getattr__ = _missing.names("torch.distributions", globals())
