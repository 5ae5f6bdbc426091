"""torch.distributions: those that scripts use."""

import _missing
from torch.distributions.distribution import Distribution, ExponentialFamily
from torch.distributions.continuous import Cauchy, Exponential, GeneralizedPareto, Gumbel, Laplace, Normal, Uniform
from torch.distributions.multivariate import LowRankMultivariateNormal, MultivariateNormal
from torch.distributions.matrix_valued import LKJCholesky, Wishart
from torch.distributions.continuous_bernoulli import ContinuousBernoulli
from torch.distributions.von_mises import VonMises
from torch.distributions.discrete import Bernoulli, Binomial, Categorical, Geometric, OneHotCategorical, OneHotCategoricalStraightThrough
from torch.distributions.gamma import Beta, Chi2, Dirichlet, Gamma, Poisson, StudentT
from torch.distributions.counts import Multinomial, NegativeBinomial
from torch.distributions.transformed import (
    FisherSnedecor, HalfCauchy, HalfNormal, InverseGamma, Kumaraswamy, LogisticNormal, LogitRelaxedBernoulli, LogNormal, Pareto,
    RelaxedBernoulli, RelaxedOneHotCategorical, Weibull,
)
from torch.distributions import constraints, transforms
from torch.distributions.constraints import biject_to, transform_to
from torch.distributions.transforms import (
    AbsTransform, AffineTransform, ComposeTransform, ExpTransform, IndependentTransform, PowerTransform, ReshapeTransform,
    SigmoidTransform, SoftmaxTransform, SoftplusTransform, StickBreakingTransform, TanhTransform, Transform, TransformedDistribution,
)
from torch.distributions.matrix_transforms import (
    CatTransform, CorrCholeskyTransform, CumulativeDistributionTransform, LowerCholeskyTransform, PositiveDefiniteTransform, StackTransform,
    identity_transform,
)
from torch.distributions.combined import Independent, MixtureSameFamily, kl_divergence, register_kl


for _name in ("CatTransform CorrCholeskyTransform CumulativeDistributionTransform LowerCholeskyTransform PositiveDefiniteTransform "
              "StackTransform identity_transform").split():
    setattr(transforms, _name, globals()[_name])

__getattr__ = _missing.names("torch.distributions", globals())
