"""The spectral norm as a hook before each call."""

from torch.autograd import no_grad
from torch.nn import functional as F
from torch.nn.parameter import Parameter
import torch


class SpectralNorm:
    """Miyato et al., 2018."""

    def __init__(self, name, n_power_iterations, dim, eps):
        if n_power_iterations <= 0:
            raise ValueError(f"Expected n_power_iterations to be positive, but got n_power_iterations={n_power_iterations}")
        self.name, self.n_power_iterations, self.dim, self.eps = name, n_power_iterations, dim, eps

    def matrix(self, weight):
        return weight.movedim(self.dim, 0).flatten(1)

    def compute_weight(self, module, iterate):
        weight, u, v = [getattr(module, self.name + end) for end in ("_orig", "_u", "_v")]
        matrix = self.matrix(weight)
        if iterate:
            with no_grad():
                for _ in range(self.n_power_iterations):
                    v.copy_(F.normalize(matrix.detach().mT @ u, dim=0, eps=self.eps))
                    u.copy_(F.normalize(matrix.detach() @ v, dim=0, eps=self.eps))
            u, v = u.clone(), v.clone()
        return weight / u.dot(matrix @ v)

    def __call__(self, module, inputs):
        setattr(module, self.name, self.compute_weight(module, module.training))


def spectral_norm(module, name="weight", n_power_iterations=1, eps=1e-12, dim=None):
    if dim is None:
        transposed = isinstance(module, (torch.nn.ConvTranspose1d, torch.nn.ConvTranspose2d, torch.nn.ConvTranspose3d))
        dim = 1 if transposed else 0
    norm = SpectralNorm(name, n_power_iterations, dim, eps)
    weight = module._parameters[name]
    rows, columns = norm.matrix(weight.detach()).shape
    u = F.normalize(weight.detach().new_empty(rows).normal_(0, 1), dim=0, eps=eps)
    v = F.normalize(weight.detach().new_empty(columns).normal_(0, 1), dim=0, eps=eps)
    delattr(module, name)
    module.register_parameter(name + "_orig", weight)
    setattr(module, name, weight.detach())
    module.register_buffer(name + "_u", u)
    module.register_buffer(name + "_v", v)
    handle = module.register_forward_pre_hook(norm)
    module.__dict__.setdefault("_spectral_norms", {})[name] = (norm, handle)
    return module


def remove_spectral_norm(module, name="weight"):
    found = module.__dict__.get("_spectral_norms", {}).pop(name, None)
    if found is None:
        raise ValueError(f"spectral_norm of '{name}' not found in {module}")
    norm, handle = found
    handle.remove()
    with no_grad():
        weight = norm.compute_weight(module, False)
    module.__dict__.pop(name, None)
    del module._buffers[name + "_u"], module._buffers[name + "_v"], module._parameters[name + "_orig"]
    module.register_parameter(name, Parameter(weight.detach()))
    return module
