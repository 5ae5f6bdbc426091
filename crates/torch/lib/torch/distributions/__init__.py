"""torch.distributions: those that scripts use."""

from torch import _C
from torch.distributions.distribution import Distribution
from torch.distributions.continuous import (
    Cauchy, Exponential, Gumbel, HalfNormal, Laplace, LogNormal, MultivariateNormal, Normal, Uniform,
)
from torch.distributions.discrete import Bernoulli, Categorical, Geometric, OneHotCategorical, OneHotCategoricalStraightThrough
from torch.distributions.gamma import Beta, Chi2, Dirichlet, Gamma, Poisson, StudentT
from torch.distributions import transforms
from torch.distributions.transforms import (
    AffineTransform, ComposeTransform, ExpTransform, PowerTransform, SigmoidTransform, SoftplusTransform, TanhTransform, Transform,
    TransformedDistribution,
)
from torch.distributions.combined import Independent, MixtureSameFamily, kl_divergence, register_kl


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(f"module 'torch.distributions' has no attribute '{name}'")
    known = [n for n in globals() if not n.startswith("_")]
    raise NotImplementedError(f"torch.distributions.{name} is not there; the nearest name is torch.distributions.{_C.nearest(name, known)}")
