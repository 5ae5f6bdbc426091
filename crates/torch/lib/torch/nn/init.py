"""Initial values of parameters, drawn as PyTorch draws them."""

from torch import _C
from torch.autograd import no_grad
import math


def calculate_gain(nonlinearity, param=None):
    if nonlinearity in ("linear", "conv1d", "conv2d", "conv3d", "conv_transpose1d", "conv_transpose2d", "conv_transpose3d", "sigmoid"):
        return 1
    if nonlinearity == "tanh":
        return 5.0 / 3
    if nonlinearity == "relu":
        return math.sqrt(2.0)
    if nonlinearity == "leaky_relu":
        slope = 0.01 if param is None else param
        if isinstance(slope, bool) or not isinstance(slope, (int, float)):
            raise ValueError(f"negative_slope {param} not a valid number")
        return math.sqrt(2.0 / (1 + slope ** 2))
    if nonlinearity == "selu":
        return 3.0 / 4
    raise ValueError(f"Unsupported nonlinearity {nonlinearity}")


def _calculate_fan_in_and_fan_out(tensor):
    if tensor.dim() < 2:
        raise ValueError("Fan in and fan out can not be computed for tensor with fewer than 2 dimensions")
    field = 1
    for n in tensor.shape[2:]:
        field *= n
    return tensor.shape[1] * field, tensor.shape[0] * field


def _fan(tensor, mode):
    fan_in, fan_out = _calculate_fan_in_and_fan_out(tensor)
    if mode.lower() not in ("fan_in", "fan_out"):
        raise ValueError(f"Mode {mode} not supported, please use one of ['fan_in', 'fan_out']")
    return fan_in if mode.lower() == "fan_in" else fan_out


def _nothing(tensor):
    """Whether there is nothing to fill, which PyTorch warns of."""
    if 0 in tensor.shape:
        import warnings
        warnings.warn("Initializing zero-element tensors is a no-op")
        return True
    return False


@no_grad()
def uniform_(tensor, a=0.0, b=1.0, generator=None):
    return tensor.uniform_(a, b, generator=generator)


@no_grad()
def normal_(tensor, mean=0.0, std=1.0, generator=None):
    return tensor.normal_(mean, std, generator=generator)


def _calculate_correct_fan(tensor, mode):
    mode = mode.lower()
    if mode not in ("fan_in", "fan_out"):
        raise ValueError(f"Mode {mode} not supported, please use one of ['fan_in', 'fan_out']")
    fan_in, fan_out = _calculate_fan_in_and_fan_out(tensor)
    return fan_in if mode == "fan_in" else fan_out


@no_grad()
def trunc_normal_(tensor, mean=0.0, std=1.0, a=-2.0, b=2.0, generator=None):
    def cdf(x):
        return (1.0 + math.erf(x / math.sqrt(2.0))) / 2.0
    if cdf((b - mean) / std) - cdf((a - mean) / std) > 0.3:
        # Draws all anew until none lies outside; those inside are kept.
        tensor.normal_(mean, std, generator=generator)
        while True:
            outside = (tensor < a) | (tensor > b)
            if not outside.any():
                return tensor
            drawn = _C.normal(tensor.shape, mean, std, tensor.dtype, generator)
            tensor.copy_(_C._ops["where"](outside, drawn, tensor))
    # Candidates are uniform; those below the density, scaled to its peak, are taken.
    mode = max(a, min(mean, b))
    peak = -0.5 * ((mode - mean) / std) ** 2
    made, pending = None, None
    while True:
        drawn = _C.uniform(tensor.shape, a, b, tensor.dtype, generator)
        made = drawn if made is None else _C._ops["where"](pending, drawn, made)
        height = _C.uniform(tensor.shape, 0.0, 1.0, tensor.dtype, generator).log()
        refused = height > ((drawn - mean) / std) ** 2 * -0.5 - peak
        pending = refused if pending is None else pending & refused
        if not pending.any():
            return tensor.copy_(made)


@no_grad()
def constant_(tensor, val):
    return tensor.fill_(val)


def ones_(tensor):
    return constant_(tensor, 1.0)


def zeros_(tensor):
    return constant_(tensor, 0.0)


@no_grad()
def eye_(tensor):
    if tensor.dim() != 2:
        raise ValueError("Only tensors with 2 dimensions are supported")
    rows, columns = tensor.shape
    return tensor.copy_(_C.tensor([[1.0 if i == j else 0.0 for j in range(columns)] for i in range(rows)]))


@no_grad()
def xavier_uniform_(tensor, gain=1.0, generator=None):
    fan_in, fan_out = _calculate_fan_in_and_fan_out(tensor)
    a = math.sqrt(3.0) * gain * math.sqrt(2.0 / float(fan_in + fan_out))
    return tensor.uniform_(-a, a, generator=generator)


@no_grad()
def xavier_normal_(tensor, gain=1.0, generator=None):
    fan_in, fan_out = _calculate_fan_in_and_fan_out(tensor)
    return tensor.normal_(0.0, gain * math.sqrt(2.0 / float(fan_in + fan_out)), generator=generator)


@no_grad()
def kaiming_uniform_(tensor, a=0, mode="fan_in", nonlinearity="leaky_relu", generator=None):
    if _nothing(tensor):
        return tensor
    bound = math.sqrt(3.0) * (calculate_gain(nonlinearity, a) / math.sqrt(_fan(tensor, mode)))
    return tensor.uniform_(-bound, bound, generator=generator)


@no_grad()
def kaiming_normal_(tensor, a=0, mode="fan_in", nonlinearity="leaky_relu", generator=None):
    if _nothing(tensor):
        return tensor
    return tensor.normal_(0.0, calculate_gain(nonlinearity, a) / math.sqrt(_fan(tensor, mode)), generator=generator)


@no_grad()
def orthogonal_(tensor, gain=1, generator=None):
    if tensor.dim() < 2:
        raise ValueError("Only tensors with 2 or more dimensions are supported")
    if tensor.numel() == 0:
        return tensor
    rows = tensor.shape[0]
    columns = tensor.numel() // rows
    flat = _C.normal((rows, columns), 0.0, 1.0, tensor.dtype, generator)
    # The factor of the decomposition whose other one has a positive diagonal, which makes it unique.
    q, r = _C.matrices("qr", flat.t() if rows < columns else flat)
    q = q * r.diagonal().sign()
    return tensor.copy_((q.t() if rows < columns else q).reshape(tensor.shape) * gain)


@no_grad()
def sparse_(tensor, sparsity, std=0.01, generator=None):
    if tensor.dim() != 2:
        raise ValueError("Only tensors with 2 dimensions are supported")
    rows, columns = tensor.shape
    zeros = math.ceil(sparsity * rows)
    tensor.normal_(0, std, generator=generator)
    for column in range(columns):
        # PyTorch draws these from the global generator.
        tensor[_C.randperm(rows, None)[:zeros], column] = 0
    return tensor


@no_grad()
def dirac_(tensor, groups=1):
    sizes = list(tensor.shape)
    if len(sizes) not in (3, 4, 5):
        raise ValueError("Only tensors with 3, 4, or 5 dimensions are supported")
    if sizes[0] % groups:
        raise ValueError("dim 0 must be divisible by groups")
    each = sizes[0] // groups
    middle = [n // 2 for n in sizes[2:]]
    tensor.zero_()
    for g in range(groups):
        for d in range(min(each, sizes[1])):
            tensor[tuple([g * each + d, d] + middle)] = 1
    return tensor


orthogonal, sparse, dirac, eye = orthogonal_, sparse_, dirac_, eye_
xavier_uniform, xavier_normal, kaiming_uniform, kaiming_normal = xavier_uniform_, xavier_normal_, kaiming_uniform_, kaiming_normal_
normal, uniform, constant = normal_, uniform_, constant_


_no_grad_trunc_normal_ = trunc_normal_
