"""torch.distributions: those that scripts use."""

import _missing
from torch.distributions.distribution import Distribution
from torch.distributions.continuous import (
    Cauchy, Exponential, Gumbel, HalfNormal, Laplace, LogNormal, MultivariateNormal, Normal, Uniform,
)
from torch.distributions.discrete import Bernoulli, Binomial, Categorical, Geometric, OneHotCategorical, OneHotCategoricalStraightThrough
from torch.distributions.gamma import Beta, Chi2, Dirichlet, Gamma, Poisson, StudentT
from torch.distributions.counts import Multinomial, NegativeBinomial
from torch.distributions.transformed import (
    FisherSnedecor, HalfCauchy, InverseGamma, Kumaraswamy, LogisticNormal, LogitRelaxedBernoulli, Pareto, RelaxedBernoulli,
    RelaxedOneHotCategorical, Weibull,
)
from torch.distributions import constraints, transforms
from torch.distributions.constraints import biject_to, transform_to
from torch.distributions.transforms import (
    AbsTransform, AffineTransform, ComposeTransform, ExpTransform, IndependentTransform, PowerTransform, ReshapeTransform,
    SigmoidTransform, SoftmaxTransform, SoftplusTransform, StickBreakingTransform, TanhTransform, Transform, TransformedDistribution,
)
from torch.distributions.combined import Independent, MixtureSameFamily, kl_divergence, register_kl


__getattr__ = _missing.names("torch.distributions", globals())
