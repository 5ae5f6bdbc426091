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
    return register_parametrization(module, name, _WeightNorm(dim))


class _Orthogonal(Module):
    """The exponential of a skew-symmetric matrix times the matrix that training began with (Lezcano-Casado, 2019)."""

    def __init__(self, weight):
        super().__init__()
        q, r = torch.linalg.qr(weight.detach())
        near = torch.allclose(weight.detach().mT @ weight.detach(), torch.eye(weight.shape[-1]), atol=1e-4)
        self.register_buffer("base", weight.detach().clone() if near else q * r.diagonal(dim1=-2, dim2=-1).sign().unsqueeze(-2))

    def forward(self, x):
        x = x.tril()
        return self.base @ torch.linalg.matrix_exp(x - x.mT)

    def right_inverse(self, value):
        return -torch.eye(value.shape[-1], dtype=value.dtype)


def orthogonal(module, name="weight", orthogonal_map=None, *, use_trivialization=True):
    weight = getattr(module, name)
    if weight.dim() != 2 or weight.shape[0] != weight.shape[1] or orthogonal_map not in (None, "matrix_exp") or not use_trivialization:
        raise NotImplementedError("parametrizations.orthogonal of other than square matrices by matrix_exp")
    return register_parametrization(module, name, _Orthogonal(weight))
