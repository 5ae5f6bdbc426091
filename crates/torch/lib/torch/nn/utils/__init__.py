"""torch.nn.utils."""

import _missing
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
    if error_if_nonfinite and not get_total_norm(grads, norm_type).isfinite().item():
        raise RuntimeError(
            f"The total norm of order {float(norm_type)} for gradients from `parameters` is non-finite, so it cannot be clipped. To disable "
            "this error and scale the gradients by the non-finite norm anyway, set `error_if_nonfinite=False`")
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


clip_grad_norm = clip_grad_norm_


@no_grad()
def clip_grads_with_norm_(parameters, max_norm, total_norm, foreach=None):
    share = (max_norm / (total_norm + 1e-6)).clamp(max=1.0)
    for g in _gradients(parameters):
        g.mul_(share)


def skip_init(module_cls, *args, **kwargs):
    """Made as ever: values that are there anyway do no harm."""
    kwargs.pop("device", None)
    return module_cls(*args, **kwargs)


def _norms(v, dim):
    """The norm of each slice of a weight along `dim`, of as many dimensions as the weight has."""
    if dim is None:
        return _C._ops["norm"](v.reshape(-1), 2.0, 0)
    rows = v.transpose(0, dim)
    norms = _C._ops["norm"](rows.reshape(rows.shape[0], -1), 2.0, 1)
    shape = [1] * v.dim()
    shape[dim] = v.shape[dim]
    return norms.reshape(shape)


class _WeightNorm:
    """Salimans and Kingma, 2016: a weight as a length and a direction, put together before each call."""

    def __init__(self, name, dim):
        self.name, self.dim = name, dim

    def weight(self, module):
        g, v = getattr(module, self.name + "_g"), getattr(module, self.name + "_v")
        return v * (g / _norms(v, self.dim))

    def __call__(self, module, args):
        setattr(module, self.name, self.weight(module))


def weight_norm(module, name="weight", dim=0):
    from torch.nn.parameter import Parameter
    weight = getattr(module, name)
    norm = _WeightNorm(name, dim)
    delattr(module, name)
    module.register_parameter(name + "_g", Parameter(_norms(weight.detach(), dim)))
    module.register_parameter(name + "_v", Parameter(weight.detach()))
    setattr(module, name, norm.weight(module))
    module._weight_norm = (norm, module.register_forward_pre_hook(norm))
    return module


def remove_weight_norm(module, name="weight"):
    from torch.nn.parameter import Parameter
    norm, handle = module.__dict__.pop("_weight_norm", (None, None))
    if norm is None or norm.name != name:
        raise ValueError(f"weight_norm of '{name}' not found in {module}")
    handle.remove()
    weight = norm.weight(module).detach()
    module.__dict__.pop(name, None)
    del module._parameters[name + "_g"], module._parameters[name + "_v"]
    setattr(module, name, Parameter(weight))
    return module


from torch.nn.utils import rnn
from torch.nn.utils.spectral_norm import remove_spectral_norm, spectral_norm


__getattr__ = _missing.names("torch.nn.utils", globals())
