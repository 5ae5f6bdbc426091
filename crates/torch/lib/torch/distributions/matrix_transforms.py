"""Transforms onto matrices, of parts, and by another distribution."""

import math
import torch
from torch._composites import diag_embed
from torch.distributions import constraints
from torch.distributions.constraints import _cholesky
from torch.distributions.transforms import ComposeTransform, Transform
from torch.nn.functional import pad, softplus

identity_transform = ComposeTransform([])


def vec_to_tril_matrix(vec, diag=0):
    """The lower triangle of a matrix from its elements in the order of rows."""
    m = vec.shape[-1]
    n = round((-(1 + 2 * diag) + ((1 + 2 * diag) ** 2 + 8 * m + 4 * abs(diag) * (diag + 1)) ** 0.5) / 2)
    i, j = torch.tril_indices(n, n, diag)
    if len(i) != m:
        raise ValueError(f"The size of last dimension is {m} which cannot be expressed as the lower triangular part of a square D x D matrix.")
    places = torch.zeros(n * n, dtype=torch.int64).index_put((i * n + j,), torch.arange(1, m + 1))
    padded = torch.cat([vec[..., :1] * 0, vec], -1)
    return padded[..., places].reshape(*vec.shape[:-1], n, n)


def tril_matrix_to_vec(mat, diag=0):
    n = mat.shape[-1]
    if diag < -n or diag >= n:
        raise ValueError(f"diag ({diag}) provided is outside [{-n}, {n - 1}].")
    i, j = torch.tril_indices(n, n, diag)
    return mat[..., i, j]


class LowerCholeskyTransform(Transform):
    event, domain, codomain = 2, constraints.independent(constraints.real, 2), constraints.lower_cholesky

    def _call(self, x):
        return x.tril(-1) + diag_embed(x.diagonal(dim1=-2, dim2=-1).exp())

    def _inverse(self, y):
        return y.tril(-1) + diag_embed(y.diagonal(dim1=-2, dim2=-1).log())


class PositiveDefiniteTransform(Transform):
    event, domain, codomain = 2, constraints.independent(constraints.real, 2), constraints.positive_definite

    def _call(self, x):
        lower = LowerCholeskyTransform()(x)
        return lower @ lower.mT

    def _inverse(self, y):
        return LowerCholeskyTransform()._inverse(_cholesky(y))


class CorrCholeskyTransform(Transform):
    """From a vector to the Cholesky factor of a correlation matrix: of every row the elements say how much of it is left."""

    event, domain, codomain = 1, constraints.real_vector, constraints.corr_cholesky

    def _call(self, x):
        eps = torch.finfo(x.dtype).eps
        r = vec_to_tril_matrix(torch.tanh(x).clamp(min=-1 + eps, max=1 - eps), -1)
        left = (1 - r ** 2).sqrt().cumprod(-1)
        r = r + torch.eye(r.shape[-1], dtype=r.dtype)
        return r * pad(left[..., :-1], [1, 0], value=1)

    def _inverse(self, y):
        left = pad((1 - torch.cumsum(y * y, -1))[..., :-1], [1, 0], value=1)
        t = tril_matrix_to_vec(y, -1) / tril_matrix_to_vec(left, -1).sqrt()
        return (t.log1p() - t.neg().log1p()) / 2

    def log_abs_det_jacobian(self, x, y, intermediates=None):
        left = tril_matrix_to_vec(1 - (y * y).cumsum(-1), -2)
        return 0.5 * left.log().sum(-1) - 2 * (x + softplus(-2 * x) - math.log(2.0)).sum(-1)

    def forward_shape(self, shape):
        n = round((0.25 + 2 * shape[-1]) ** 0.5 + 0.5)
        if n * (n - 1) // 2 != shape[-1]:
            raise ValueError("Input is not a flattened lower-diagonal number")
        return tuple(shape[:-1]) + (n, n)

    def inverse_shape(self, shape):
        return tuple(shape[:-2]) + (shape[-1] * (shape[-1] - 1) // 2,)


class _Parts(Transform):
    """Transforms side by side along a dimension."""

    def __init__(self, tseq, dim=0, cache_size=0):
        super().__init__(cache_size)
        self.transforms, self.dim = list(tseq), dim
        self.event = max([t.event for t in self.transforms])

    bijective = property(lambda self: all([t.bijective for t in self.transforms]))

    def _call(self, x):
        return self._joined([t(part) for t, part in zip(self.transforms, self._split(x))])

    def _inverse(self, y):
        return self._joined([t._inv_call(part) for t, part in zip(self.transforms, self._split(y))])

    def log_abs_det_jacobian(self, x, y):
        made = []
        for t, a, b in zip(self.transforms, self._split(x), self._split(y)):
            found, extra = t.log_abs_det_jacobian(a, b), self.event - t.event
            made.append(found.sum(tuple(range(-extra, 0))) if extra else found)
        dim = self.dim - x.dim() if self.dim >= 0 else self.dim
        dim += self.event
        return self._joined(made, dim) if dim < 0 else sum(made)


class CatTransform(_Parts):
    def __init__(self, tseq, dim=0, lengths=None, cache_size=0):
        super().__init__(tseq, dim, cache_size)
        self.lengths = [1] * len(self.transforms) if lengths is None else list(lengths)

    length = property(lambda self: sum(self.lengths))

    def _split(self, x):
        return x.split(self.lengths, self.dim)

    def _joined(self, parts, dim=None):
        return torch.cat(parts, self.dim if dim is None else dim)


class StackTransform(_Parts):
    def _split(self, x):
        return [x.select(self.dim, i) for i in range(x.shape[self.dim])]

    def _joined(self, parts, dim=None):
        return torch.stack(parts, self.dim if dim is None else dim)


class CumulativeDistributionTransform(Transform):
    codomain = constraints.unit_interval

    def __init__(self, distribution, cache_size=0):
        super().__init__(cache_size)
        self.distribution = distribution

    domain = property(lambda self: self.distribution.support)

    def _call(self, x):
        return self.distribution.cdf(x)

    def _inverse(self, y):
        return self.distribution.icdf(y)

    def log_abs_det_jacobian(self, x, y):
        return self.distribution.log_prob(x)
