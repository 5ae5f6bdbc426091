"""torch.nn.utils."""

from torch import _C
from torch._C import Tensor
from torch.autograd import no_grad


def _gradients(parameters):
    if isinstance(parameters, Tensor):
        parameters = [parameters]
    return [p.grad for p in parameters if p.grad is not None]


@no_grad()
def clip_grad_norm_(parameters, max_norm, norm_type=2.0, error_if_nonfinite=False, foreach=None):
    grads = _gradients(parameters)
    if not grads:
        return _C.tensor(0.0)
    made = _C._ops["clip_grad_norm"](grads, float(max_norm), float(norm_type))
    for g, clipped in zip(grads, made):
        g.copy_(clipped)
    return made[-1]


@no_grad()
def clip_grad_value_(parameters, clip_value, foreach=None):
    for g in _gradients(parameters):
        g.clamp_(-clip_value, clip_value)


@no_grad()
def get_total_norm(tensors, norm_type=2.0, error_if_nonfinite=False, foreach=None):
    return _C._ops["clip_grad_norm"](list(tensors), 1.0, float(norm_type))[-1]


def parameters_to_vector(parameters):
    return _C._ops["cat"]([p.reshape(-1) for p in parameters])


@no_grad()
def vector_to_parameters(vec, parameters):
    at = 0
    for p in parameters:
        n = p.numel()
        p.copy_(vec[at:at + n].reshape(p.shape))
        at += n
