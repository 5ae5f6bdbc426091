"""Parametrizations that scripts use: spectral norm, weight norm and orthogonal matrices."""

from torch.autograd import no_grad
from torch.nn import functional as F
from torch.nn.modules.module import Module
from torch.nn.utils import _norms
from torch.nn.utils.parametrize import register_parametrization
import torch


class _SpectralNorm(Module):
    """Miyato et al., 2018: a weight over its largest singular value, which power iterations follow."""

    def __init__(self, weight, n_power_iterations=1, dim=0, eps=1e-12):
        super().__init__()
        if n_power_iterations <= 0:
            raise ValueError(f"Expected n_power_iterations to be positive, but got n_power_iterations={n_power_iterations}")
        self.dim, self.eps, self.n_power_iterations = dim % weight.dim(), eps, n_power_iterations
        if weight.dim() > 1:
            matrix = self._matrix(weight.detach())
            u, v = [matrix.new_empty(n).normal_(0, 1) for n in matrix.shape]
            self.register_buffer("_u", F.normalize(u, dim=0, eps=eps))
            self.register_buffer("_v", F.normalize(v, dim=0, eps=eps))
            self._power_method(matrix, 15)

    def _matrix(self, weight):
        return weight.movedim(self.dim, 0).flatten(1)

    @no_grad()
    def _power_method(self, matrix, times):
        for _ in range(times):
            self._u.copy_(F.normalize(matrix @ self._v, dim=0, eps=self.eps))
            self._v.copy_(F.normalize(matrix.mT @ self._u, dim=0, eps=self.eps))

    def forward(self, weight):
        if weight.dim() == 1:
            return F.normalize(weight, dim=0, eps=self.eps)
        matrix = self._matrix(weight)
        if self.training:
            self._power_method(matrix.detach(), self.n_power_iterations)
        u, v = self._u.clone(), self._v.clone()
        return weight / u.dot(matrix @ v)

    def right_inverse(self, value):
        return value


def spectral_norm(module, name="weight", n_power_iterations=1, eps=1e-12, dim=None):
    weight = getattr(module, name)
    if dim is None:
        transposed = isinstance(module, (torch.nn.ConvTranspose1d, torch.nn.ConvTranspose2d, torch.nn.ConvTranspose3d))
        dim = 1 if transposed else 0
    return register_parametrization(module, name, _SpectralNorm(weight, n_power_iterations, dim, eps))


class _WeightNorm(Module):
    def __init__(self, dim=0):
        super().__init__()
        self.dim = dim

    def forward(self, weight_g, weight_v):
        return weight_v * (weight_g / _norms(weight_v, self.dim))

    def right_inverse(self, weight):
        return _norms(weight, self.dim), weight


def weight_norm(module, name="weight", dim=0):
    def renamed(state_dict, prefix, *others):
        # What `torch.nn.utils.weight_norm` saved.
        for old, new in (("_g", "0"), ("_v", "1")):
            if prefix + name + old in state_dict:
                state_dict[f"{prefix}parametrizations.{name}.original{new}"] = state_dict.pop(prefix + name + old)
    register_parametrization(module, name, _WeightNorm(dim))
    module._register_load_state_dict_pre_hook(renamed)
    return module


def _made_orthogonal(a):
    q, r = torch.linalg.qr(a)
    return q * r.diagonal(dim1=-2, dim2=-1).sign().unsqueeze(-2)


def _is_orthogonal(q):
    n, k = q.shape[-2:]
    return torch.allclose(q.mT @ q, torch.eye(k, dtype=q.dtype), atol=10.0 * n * torch.finfo(q.dtype).eps)


class _Orthogonal(Module):
    """A skew-symmetric matrix's exponential or Cayley map, or a product of reflections, times what training began with (Lezcano-Casado,
    2019)."""

    def __init__(self, weight, orthogonal_map, use_trivialization=True):
        super().__init__()
        self.shape, self.orthogonal_map = weight.shape, orthogonal_map
        if use_trivialization:
            self.register_buffer("base", None)

    def forward(self, X):
        wide = X.shape[-2] < X.shape[-1]
        X = X.mT if wide else X
        n, k = X.shape[-2:]
        if self.orthogonal_map == "householder":
            A = X.tril(-1)
            Q = torch.linalg.householder_product(A, 2.0 / (1.0 + (A * A).sum(-2)))
            Q = Q * X.detach().diagonal(dim1=-2, dim2=-1).trunc().unsqueeze(-2)
        else:
            X = X.tril()
            if n != k:
                X = torch.cat([X, X.new_zeros(n, n - k).expand(*X.shape[:-2], -1, -1)], -1)
            A = X - X.mT
            if self.orthogonal_map == "matrix_exp":
                Q = torch.linalg.matrix_exp(A)
            else:
                one = torch.eye(n, dtype=A.dtype)
                Q = torch.linalg.solve(one - 0.5 * A, one + 0.5 * A)
            Q = Q[..., :k] if n != k else Q
        if "base" in self._buffers:
            Q = self.base @ Q
        return Q.mT if wide else Q

    @no_grad()
    def right_inverse(self, Q):
        if tuple(Q.shape) != tuple(self.shape):
            raise ValueError(f"Expected a matrix or batch of matrices of shape {self.shape}. Got a tensor of shape {Q.shape}.")
        if "base" not in self._buffers:
            if self.orthogonal_map != "householder":
                raise NotImplementedError("It is not possible to assign to the matrix exponential or the Cayley parametrizations when "
                                          "use_trivialization=False.")
            raise NotImplementedError("parametrizations.orthogonal by householder without use_trivialization, which is there")
        given = Q
        Q = Q.mT if Q.shape[-2] < Q.shape[-1] else Q
        n, k = Q.shape[-2:]
        if n != k:
            Q = _made_orthogonal(torch.cat([Q, torch.randn(*Q.shape[:-2], n, n - k, dtype=Q.dtype)], -1))
        else:
            Q = Q.clone() if _is_orthogonal(Q) else _made_orthogonal(Q)
        self.base = Q
        return -torch.eye(*given.shape[-2:], dtype=given.dtype).expand(given.shape).clone()


def orthogonal(module, name="weight", orthogonal_map=None, *, use_trivialization=True):
    weight = getattr(module, name, None)
    if not isinstance(weight, torch.Tensor):
        raise ValueError(f"Module '{module}' has no parameter or buffer with name '{name}'")
    if weight.dim() < 2:
        raise ValueError(f"Expected a matrix or batch of matrices. Got a tensor of {weight.dim()} dimensions.")
    if orthogonal_map is None:
        orthogonal_map = "matrix_exp" if weight.shape[-2] == weight.shape[-1] else "householder"
    if orthogonal_map not in ("matrix_exp", "cayley", "householder"):
        raise ValueError(f'orthogonal_map has to be one of "matrix_exp", "cayley", "householder". Got: {orthogonal_map}')
    return register_parametrization(module, name, _Orthogonal(weight, orthogonal_map, use_trivialization), unsafe=True)
