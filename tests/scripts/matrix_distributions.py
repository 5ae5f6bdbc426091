"""Distributions of matrices, tails, and transforms onto matrices and of parts."""

import torch
from torch.distributions import (
    GeneralizedPareto, LKJCholesky, MultivariateNormal, Normal, TransformedDistribution, Wishart, biject_to, constraints, transform_to,
)
from torch.distributions.transforms import (
    AffineTransform, CatTransform, CorrCholeskyTransform, CumulativeDistributionTransform, ExpTransform, LowerCholeskyTransform,
    PositiveDefiniteTransform, StackTransform, identity_transform,
)

torch.manual_seed(0)
lkj = LKJCholesky(3, 0.5)
sample = lkj.sample()
print(lkj, sample, lkj.log_prob(sample))
print(LKJCholesky(3, torch.tensor([1.0, 2.0])).sample((2,)).shape)
wishart = Wishart(torch.tensor([4.0]), torch.eye(2))
print(wishart, wishart.sample().shape, wishart.log_prob(torch.eye(2)[None]), wishart.mean, wishart.variance, wishart.entropy())
print(Wishart(torch.tensor([5.0, 6.0]), torch.eye(2)).expand((2,)).sample().shape, Wishart(3, scale_tril=torch.eye(2)).precision_matrix)
for df in (0.5, torch.tensor(1.0)):
    try:
        Wishart(df, torch.eye(2))
    except ValueError as error:
        print(error)
tail = GeneralizedPareto(0.0, 1.0, 0.2)
x = torch.tensor([0.5, 1.0])
print(tail, tail.sample((2,)), tail.log_prob(x), tail.mean, tail.variance, tail.cdf(x), tail.icdf(torch.tensor(0.3)), tail.entropy())
print(GeneralizedPareto(torch.zeros(2), 1.0, -0.5).support, GeneralizedPareto(0.0, 1.0, 0.0).log_prob(x))

x = torch.randn(2, 3)
t = CorrCholeskyTransform()
y = t(x)
print(y, t.inv(y), t.log_abs_det_jacobian(x, y), t.forward_shape((2, 3)))
print(LowerCholeskyTransform()(torch.ones(2, 2)), PositiveDefiniteTransform()(torch.ones(2, 2)))
for t in (CatTransform([ExpTransform(), AffineTransform(1.0, 2.0)], dim=-1, lengths=[1, 2]),
          StackTransform([ExpTransform(), identity_transform, AffineTransform(0.0, 3.0)], dim=1)):
    y = t(x)
    print(y, t.inv(y), t.log_abs_det_jacobian(x, y))
t = CumulativeDistributionTransform(Normal(0.0, 1.0))
print(t(x), t.inv(t(x)), t.log_abs_det_jacobian(x, None))
print(transform_to(constraints.corr_cholesky)(torch.zeros(3)), transform_to(constraints.positive_definite)(torch.eye(2)),
      biject_to(constraints.corr_cholesky)(torch.zeros(1)))
print(constraints.symmetric.check(torch.eye(2)), constraints.positive_semidefinite.check(torch.ones(2, 2)),
      constraints.lower_triangular.check(torch.ones(2, 2)))
copula = TransformedDistribution(MultivariateNormal(torch.zeros(2), scale_tril=LKJCholesky(2, 1.0).sample()), [t])
print(copula.sample((2,)))

print([round(v, 3) for v in torch.svd_lowrank(torch.eye(4), q=2)[1].tolist()], torch.pca_lowrank(torch.randn(8, 4), q=3)[1])
print(torch.kaiser_window(5, True, 8.0), torch.hamming_window(4, True, 0.5, 0.5))
print(torch.fft.hfft(torch.tensor([1.0, 2.0, 3.0])), torch.fft.ihfft(torch.arange(4.0)))
