"""Normal distributions of vectors."""

import math
from torch import _C
from torch._composites import diag_embed
from torch.autograd import enable_grad
from torch.distributions import constraints
from torch.distributions.constraints import _cholesky
from torch.distributions.distribution import Distribution

_ops = _C._ops


def _solved(lower, b):
    """The solution of L x = b, L repeated where b has more dimensions before its columns."""
    shape = list(b.shape[:-2]) + list(lower.shape[-2:])
    return _ops["linalg_solve_triangular"](lower.expand(shape), b, upper=False)


def _from_precision(p):
    """The Cholesky factor of P's inverse, which the factor of P backwards gives without the inverse."""
    reversed_ = _cholesky(_ops["flip"](p, (-2, -1)))
    inverse = _ops["flip"](reversed_, (-2, -1)).mT
    return _solved(inverse, _ops["eye"](p.shape[-1]).to(p.dtype).expand(p.shape))


class MultivariateNormal(Distribution):
    has_rsample = True
    arg_constraints = {"loc": constraints.real_vector, "covariance_matrix": constraints.positive_definite,
                       "precision_matrix": constraints.positive_definite, "scale_tril": constraints.lower_cholesky}
    support = constraints.real_vector

    def __init__(self, loc, covariance_matrix=None, precision_matrix=None, scale_tril=None, validate_args=None):
        if loc.dim() < 1:
            raise ValueError("loc must be at least one-dimensional.")
        given = [(n, v) for n, v in (("covariance_matrix", covariance_matrix), ("scale_tril", scale_tril),
                                     ("precision_matrix", precision_matrix)) if v is not None]
        if len(given) != 1:
            raise ValueError("Exactly one of covariance_matrix or precision_matrix or scale_tril may be specified.")
        (name, matrix), = given
        if matrix.dim() < 2:
            raise ValueError(f"{name} must be at least two-dimensional, with optional leading batch dimensions")
        batch = tuple(_ops["matmul"](matrix.detach(), loc.detach().unsqueeze(-1)).shape[:-2])
        self.loc = loc.expand(batch + tuple(loc.shape[-1:]))
        self.__dict__[name] = matrix.expand(batch + tuple(matrix.shape[-2:]))
        super().__init__(batch, loc.shape[-1:], validate_args)
        self._factor = matrix if name == "scale_tril" else _cholesky(matrix) if name == "covariance_matrix" else _from_precision(matrix)

    def expand(self, batch_shape, _instance=None):
        new, batch, event = super().expand(batch_shape, _instance), tuple(batch_shape), tuple(self._event_shape)
        new._factor = self._factor
        for name in ("covariance_matrix", "scale_tril", "precision_matrix"):
            if name in self.__dict__:
                new.__dict__[name] = self.__dict__[name].expand(batch + event + event)
        return new

    def __getattr__(self, name):
        if name not in ("covariance_matrix", "scale_tril", "precision_matrix"):
            raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")
        with enable_grad():
            lower = self._factor
            if name == "covariance_matrix":
                lower = lower @ lower.mT
            elif name == "precision_matrix":
                inverse = _solved(lower, _ops["eye"](lower.shape[-1]).to(lower.dtype).expand(lower.shape))
                lower = inverse.mT @ inverse
            self.__dict__[name] = lower.expand(tuple(self._batch_shape) + tuple(lower.shape[-2:]))
        return self.__dict__[name]

    @property
    def mean(self):
        return self.loc

    @property
    def mode(self):
        return self.loc

    @property
    def variance(self):
        return self._factor.square().sum(-1).expand(self.loc.shape)

    def rsample(self, sample_shape=()):
        drawn = _C.normal(self._extended_shape(sample_shape), 0.0, 1.0, self.loc.dtype, None)
        return self.loc + (self._factor @ drawn.unsqueeze(-1)).squeeze(-1)

    def _half_log_det(self):
        return self._factor.diagonal(dim1=-2, dim2=-1).log().sum(-1)

    def log_prob(self, value):
        self._validate_sample(value)
        n = self.loc.shape[-1]
        solved = _solved(self._factor, (value - self.loc).unsqueeze(-1))
        return -0.5 * (n * math.log(2 * math.pi) + solved.square().sum([-2, -1])) - self._half_log_det()

    def entropy(self):
        n = self.loc.shape[-1]
        return (0.5 * n * (1.0 + math.log(2 * math.pi)) + self._half_log_det()).expand(self._batch_shape)


class LowRankMultivariateNormal(Distribution):
    """With the covariance W W^T + D: a factor of few columns, and a diagonal."""

    has_rsample = True
    arg_constraints = {"loc": constraints.real_vector, "cov_factor": constraints.independent(constraints.real, 2),
                       "cov_diag": constraints.independent(constraints.positive, 1)}
    support = constraints.real_vector

    def __init__(self, loc, cov_factor, cov_diag, validate_args=None):
        if cov_factor.shape[-2:-1] != loc.shape[-1:]:
            raise ValueError(f"cov_factor must be a batch of matrices with shape {loc.shape[-1]} x m")
        batch = tuple((loc.detach() + cov_factor.detach()[..., 0] + cov_diag.detach()).shape[:-1])
        event = tuple(loc.shape[-1:])
        self.loc, self.cov_diag = loc.expand(batch + event), cov_diag.expand(batch + event)
        self.cov_factor = cov_factor.expand(batch + tuple(cov_factor.shape[-2:]))
        super().__init__(batch, event, validate_args)

    mean = property(lambda self: self.loc)
    mode = property(lambda self: self.loc)
    variance = property(lambda self: self.cov_factor.square().sum(-1) + self.cov_diag)

    @property
    def covariance_matrix(self):
        return self.cov_factor @ self.cov_factor.mT + diag_embed(self.cov_diag)

    @property
    def scale_tril(self):
        return _cholesky(self.covariance_matrix)

    @property
    def precision_matrix(self):
        return MultivariateNormal(self.loc, self.covariance_matrix, validate_args=False).precision_matrix

    def rsample(self, sample_shape=()):
        shape = self._extended_shape(sample_shape)
        of_factor = _C.normal(list(shape[:-1]) + [self.cov_factor.shape[-1]], 0.0, 1.0, self.loc.dtype, None)
        of_diagonal = _C.normal(shape, 0.0, 1.0, self.loc.dtype, None)
        return self.loc + (self.cov_factor @ of_factor.unsqueeze(-1)).squeeze(-1) + self.cov_diag.sqrt() * of_diagonal

    def _dense(self):
        return MultivariateNormal(self.loc, self.covariance_matrix, validate_args=False)

    def log_prob(self, value):
        self._validate_sample(value)
        return self._dense().log_prob(value)

    def entropy(self):
        return self._dense().entropy()
