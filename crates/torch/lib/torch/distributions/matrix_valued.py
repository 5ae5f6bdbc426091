"""Distributions of matrices: Cholesky factors of correlations, and scatter matrices."""

import math
import warnings
import torch
from torch import _C
from torch._composites import diag_embed
from torch.distributions import constraints
from torch.distributions.constraints import _cholesky
from torch.distributions.distribution import Distribution, ExponentialFamily, _tensors
from torch.distributions.gamma import Beta, Chi2
from torch.distributions.multivariate import _from_precision


class LKJCholesky(Distribution):
    """Lewandowski, Kurowicka and Joe, 2009: a correlation matrix C has a density proportional to det(C)^(concentration - 1)."""

    arg_constraints = {"concentration": constraints.positive}
    support = constraints.corr_cholesky

    def __init__(self, dim, concentration=1.0, validate_args=None):
        if dim < 2:
            raise ValueError(f"Expected dim to be an integer greater than or equal to 2. Found dim={dim}.")
        self.dim = dim
        (self.concentration,), batch = _tensors(concentration)
        offset = torch.cat([torch.zeros(1), torch.arange(dim - 1, dtype=self.concentration.dtype)])
        marginal = self.concentration + 0.5 * (dim - 2)
        self._beta = Beta(offset + 0.5, marginal.unsqueeze(-1) - 0.5 * offset)
        super().__init__(batch, (dim, dim), validate_args)

    def sample(self, sample_shape=()):
        """The onion method: rows are points on spheres, of radii that are drawn first."""
        y = self._beta.sample(sample_shape).unsqueeze(-1)
        u = torch.randn(self._extended_shape(sample_shape), dtype=y.dtype).tril(-1)
        u = u / u.norm(dim=-1, keepdim=True)
        u[..., 0, :] = 0.0
        w = y.sqrt() * u
        rest = (1 - w.square().sum(-1)).clamp(min=torch.finfo(w.dtype).tiny).sqrt()
        return w + diag_embed(rest)

    def log_prob(self, value):
        self._validate_sample(value)
        n = self.dim
        order = 2 * (self.concentration - 1).unsqueeze(-1) + n - torch.arange(2, n + 1)
        density = (order * value.diagonal(dim1=-1, dim2=-2)[..., 1:].log()).sum(-1)
        alpha = self.concentration + 0.5 * (n - 1)
        return density - (0.5 * (n - 1) * math.log(math.pi) + torch.mvlgamma(alpha - 0.5, n - 1) - alpha.lgamma() * (n - 1))


class Wishart(ExponentialFamily):
    """Sums of df outer products of normal vectors with the covariance."""

    support = constraints.positive_definite
    has_rsample = True

    @property
    def arg_constraints(self):
        return {"covariance_matrix": constraints.positive_definite, "precision_matrix": constraints.positive_definite,
                "scale_tril": constraints.lower_cholesky, "df": constraints.greater_than(self.event_shape[-1] - 1)}

    def __init__(self, df, covariance_matrix=None, precision_matrix=None, scale_tril=None, validate_args=None):
        given = [(n, v) for n, v in (("covariance_matrix", covariance_matrix), ("scale_tril", scale_tril),
                                     ("precision_matrix", precision_matrix)) if v is not None]
        if len(given) != 1:
            raise AssertionError("Exactly one of covariance_matrix or precision_matrix or scale_tril may be specified.")
        (name, matrix), = given
        if matrix.dim() < 2:
            raise ValueError("scale_tril must be at least two-dimensional, with optional leading batch dimensions")
        event, batch = matrix.shape[-2:], matrix.shape[:-2]
        if isinstance(df, torch.Tensor):
            batch = torch.broadcast_shapes(batch, df.shape)
            self.df = df.expand(batch)
        else:
            self.df = torch.tensor(df, dtype=matrix.dtype)
        if (self.df <= event[-1] - 1).any():
            raise ValueError(f"Value of df={df} expected to be greater than ndim - 1 = {event[-1] - 1}.")
        if (self.df < event[-1]).any():
            warnings.warn("Low df values detected. Singular samples are highly likely to occur for ndim - 1 < df < ndim.", stacklevel=2)
        self.__dict__[name] = matrix.expand(tuple(batch) + tuple(event))
        super().__init__(batch, event, validate_args)
        self._factor = matrix if name == "scale_tril" else _cholesky(matrix) if name == "covariance_matrix" else _from_precision(matrix)
        self._chi2 = Chi2(self.df.unsqueeze(-1) - torch.arange(event[-1], dtype=matrix.dtype).expand(tuple(batch) + (-1,)))

    def __getattr__(self, name):
        if name not in ("covariance_matrix", "scale_tril", "precision_matrix"):
            raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")
        lower = self._factor
        if name == "covariance_matrix":
            lower = lower @ lower.mT
        elif name == "precision_matrix":
            lower = torch.cholesky_inverse(lower)
        self.__dict__[name] = lower.expand(tuple(self._batch_shape) + tuple(lower.shape[-2:]))
        return self.__dict__[name]

    def expand(self, batch_shape):
        shape = tuple(batch_shape) + tuple(self._event_shape)
        return Wishart(self.df.expand(batch_shape), scale_tril=self._factor.expand(shape), validate_args=False)

    @property
    def mean(self):
        return self.df[..., None, None] * self.covariance_matrix

    @property
    def mode(self):
        factor = self.df - self._event_shape[-1] - 1
        return torch.where(factor <= 0, math.nan, factor)[..., None, None] * self.covariance_matrix

    @property
    def variance(self):
        v = self.covariance_matrix
        d = v.diagonal(dim1=-2, dim2=-1)
        return self.df[..., None, None] * (v.square() + d.unsqueeze(-1) * d.unsqueeze(-2))

    def _bartlett(self, sample_shape):
        p = self._event_shape[-1]
        noise = diag_embed(self._chi2.rsample(sample_shape).sqrt().clamp(min=torch.finfo(self._factor.dtype).eps))
        i, j = torch.tril_indices(p, p, offset=-1)
        shape = tuple(sample_shape) + tuple(self._batch_shape) + (p * (p - 1) // 2,)
        noise[..., i, j] = torch.randn(shape, dtype=noise.dtype)
        chol = self._factor @ noise
        return chol @ chol.mT

    def rsample(self, sample_shape=(), max_try_correction=None):
        sample = self._bartlett(sample_shape)
        # PyTorch draws again where the check of a sample says that it is definite, and keeps that.
        again = self.support.check(sample)
        for axis in range(len(self._batch_shape)):
            again = again.any(-1)
        if again.any():
            warnings.warn("Singular sample detected.", stacklevel=2)
        tries = 10 if max_try_correction is None else max_try_correction
        while tries > 0 and again.any():
            tries -= 1
            new = self._bartlett(again[again].shape)
            sample[again] = new
            singular = ~self.support.check(new)
            for axis in range(len(self._batch_shape)):
                singular = singular.any(-1)
            again[again.clone()] = singular
        return sample

    def log_prob(self, value):
        self._validate_sample(value)
        nu, p, lower = self.df, self._event_shape[-1], self._factor
        inner = torch.cholesky_solve(value, lower.expand(value.shape)).diagonal(dim1=-2, dim2=-1).sum(-1)
        half = p * math.log(2) / 2 + lower.diagonal(dim1=-2, dim2=-1).log().sum(-1)
        return -nu * half - torch.mvlgamma(nu / 2, p) + (nu - p - 1) / 2 * torch.linalg.slogdet(value).logabsdet - inner / 2

    def entropy(self):
        nu, p, lower = self.df, self._event_shape[-1], self._factor
        half = p * math.log(2) / 2 + lower.diagonal(dim1=-2, dim2=-1).log().sum(-1)
        digamma = ((nu / 2).unsqueeze(-1) - torch.arange(p, dtype=nu.dtype) / 2).digamma().sum(-1)
        return (p + 1) * half + torch.mvlgamma(nu / 2, p) - (nu - p - 1) / 2 * digamma + nu * p / 2
