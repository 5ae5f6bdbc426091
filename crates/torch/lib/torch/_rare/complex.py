"""What few scripts do with complex tensors: `torch._complex.call` looks here for what it has not itself."""

from torch import _C, _complex
from torch._C import Tensor
from torch._complex import pairs
import math

_ops = _C._ops
_wrap = _C.complexed


def _part(value, imaginary, number=False):
    """The real or the imaginary part of an argument; of indices, masks and sizes themselves."""
    if isinstance(value, Tensor):
        if value.dtype.is_complex:
            return _ops["imag" if imaginary else "real"](pairs(value))
        return value * 0 if imaginary and value.dtype.is_floating_point else value
    if isinstance(value, (list, tuple)):
        return type(value)([_part(v, imaginary) for v in value])
    if isinstance(value, complex) or number:
        value = complex(value)
        return value.imag if imaginary else value.real
    return value


def _joined(real, imaginary):
    if isinstance(real, (list, tuple)):
        return tuple([_joined(a, b) for a, b in zip(real, imaginary)])
    return _wrap(_ops["complex"](real, imaginary))


def _by_parts(row, at=None):
    """Operators that are linear over the reals: what they do with real parts, and with imaginary ones. `at` is the place of a number
    among their arguments that is a value."""
    def function(*args, **kwargs):
        made = []
        for imaginary in (False, True):
            values = [_part(v, imaginary, i == at and not isinstance(v, Tensor)) for i, v in enumerate(args)]
            named = {k: _part(v, imaginary, k in ("value", "fill_value") and isinstance(v, (int, float))) for k, v in kwargs.items()}
            made.append(_ops[row](*values, **named))
        return _joined(*made)
    return function


def _by_pairs(row, dims):
    """Of convolutions: bilinear in input and weight."""
    def function(input, weight, bias=None, *args, **kwargs):
        a, b = [_part(input, i) for i in (False, True)], [_part(weight, i) for i in (False, True)]
        product = lambda i, j: _ops[row](a[i], b[j], None, *args, **kwargs)
        made = _joined(product(0, 0) - product(1, 1), product(0, 1) + product(1, 0))
        return made if bias is None else made + bias.reshape([-1] + [1] * dims)
    return function


def _nonzero(x):
    return ~_ops["complex_eq"](pairs(x), _C.tensor([0.0, 0.0], _C.float32)) if isinstance(x, Tensor) and x.dtype.is_complex else x


def _of_truth(row):
    """Operators that ask whether numbers are zero."""
    return lambda *args, **kwargs: _ops[row](*[_nonzero(v) for v in args], **kwargs)


def _of_sizes(row):
    """Operators that look at absolute values alone."""
    return lambda *args, **kwargs: _ops[row](*[abs(v) if isinstance(v, Tensor) and v.dtype.is_complex else v for v in args], **kwargs)


def _square(x):
    re, im = _part(x, False), _part(x, True)
    return re * re + im * im


def _diagonal(x, offset=0, dim1=0, dim2=1):
    return _wrap(pairs(x).diagonal(offset, dim1 % x.dim(), dim2 % x.dim()).transpose(-1, -2))


def _unfold(x, dimension, size, step):
    return _wrap(pairs(x).unfold(dimension % x.dim(), size, step).transpose(-1, -2))


# Powers and logarithms.
def _expm1(x):
    # exp(a + bi) - 1, whose real part is (e^a - 1) cos b - 2 sin(b / 2)^2: nothing cancels where x is small.
    a, b = _part(x, False), _part(x, True)
    half = (b * 0.5).sin()
    return _joined(a.expm1() * b.cos() - 2 * half * half, a.exp() * b.sin())


def _log1p(x):
    # log |1 + x| is log1p of |1 + x|^2 - 1, halved.
    a, b = _part(x, False), _part(x, True)
    return _joined(0.5 * (a * (2 + a) + b * b).log1p(), _ops["atan2"](b, 1 + a))


def _sigmoid(x):
    # Of numbers with negative real parts e^x stays finite, of others e^-x does.
    a, b = _part(x, False), _part(x, True)
    negative = a < 0
    size, angle = (-a.abs()).exp(), _ops["where"](negative, b, -b)
    e = _joined(size * angle.cos(), size * angle.sin())
    return _complex.call("where", (negative, e, _ones(x)), {}) / (1 + e)


def _sinc(x):
    zero = ~_nonzero(x)
    angle = _complex.call("where", (zero, _ones(x), x), {}) * math.pi
    return _complex.call("where", (zero, _ones(x), angle.sin() / angle), {})


def _ones(x):
    re = _part(x, False)
    return _joined(re * 0 + 1, re * 0)


def _sign(x):
    size = abs(x)
    return x / _ops["where"](size == 0, size * 0 + 1, size)


# Inverse functions, by Kahan's formulas, which lose no digits beside the branch cuts (Branch Cuts for Complex Elementary Functions, 1987).
def _ways(x):
    """The square roots of 1 - x and 1 + x."""
    return (1 - x).sqrt(), (1 + x).sqrt()


def _asin(x):
    a, b = _ways(x)
    return _joined(_ops["atan2"](x.real, (a * b).real), (a.conj() * b).imag.asinh())


def _acos(x):
    a, b = _ways(x)
    return _joined(2 * _ops["atan2"](a.real, b.real), (b.conj() * a).imag.asinh())


def _atanh(x):
    a, b = x.real, x.imag
    square = b * b
    return _joined(0.25 * (4 * a / ((1 - a) * (1 - a) + square)).log1p(), 0.5 * _ops["atan2"](2 * b, (1 - a) * (1 + a) - square))


def _turned(function):
    """f of ix, over i: how inverse hyperbolic functions come from circular ones, and one from the other."""
    def turned(x):
        made = function(_joined(-x.imag, x.real))
        return _joined(made.imag, -made.real)
    return turned


def _acosh(x):
    a, b = (x - 1).sqrt(), (x + 1).sqrt()
    return _joined((a.conj() * b).real.asinh(), 2 * _ops["atan2"](a.imag, b.real))


# Along a dimension.
def _logsumexp(input, dim, keepdim=False):
    top = _ops["amax"](input.real.detach(), dim, True)
    top = _ops["where"](top.isfinite(), top, top * 0)
    made = (input - top).exp().sum(dim, True).log() + top
    return made if keepdim else made.squeeze(dim)


def _logaddexp(input, other):
    input, other = _C.complexed(pairs(input)), _C.complexed(pairs(other))
    first = input.real >= other.real
    top, low = [_complex.call("where", (first, *two), {}) for two in ((input, other), (other, input))]
    return top + _log1p((low - top).exp())


def _product(input, dim=None, keepdim=False, dtype=None):
    """By halves: products of neighbours, until one is left."""
    if dim is None:
        return _product(input.reshape(-1), 0)
    if input.dim() == 0:
        return input
    dim %= input.dim()
    while input.shape[dim] > 1:
        half = input.shape[dim] // 2
        rest = input.narrow(dim, 2 * half, input.shape[dim] - 2 * half)
        input = input.narrow(dim, 0, half) * input.narrow(dim, half, half)
        input = _complex.call("cat", ([input, rest], dim), {}) if rest.shape[dim] else input
    if input.shape[dim] == 0:
        shape = list(input.shape)
        shape[dim] = 1
        input = _C.full(shape, 1 + 0j, _C.complex64)
    return input if keepdim else input.squeeze(dim)


def _cumprod(input, dim, dtype=None):
    """Each is multiplied by what is 1, 2, 4 .. before it (Hillis and Steele, 1986)."""
    if input.dim() == 0:
        return input
    dim, step = dim % input.dim(), 1
    n = input.shape[dim]
    while step < n:
        later = input.narrow(dim, step, n - step) * input.narrow(dim, 0, n - step)
        input = _complex.call("cat", ([input.narrow(dim, 0, step), later], dim), {})
        step *= 2
    return input


def _var(input, dim=None, correction=1, keepdim=False, **kwargs):
    apart = input - _complex.call("mean", (input, dim, True), {})
    square = _square(apart)
    dims = list(range(input.dim())) if dim is None or dim == [] or dim == () else [dim] if isinstance(dim, int) else list(dim)
    count = 1
    for d in dims:
        count *= input.shape[d]
    left = count - correction
    return square.sum(dims, keepdim) / (left if left > 0 else 0.0) if dims else square / (left if left > 0 else 0.0)


def _std(*args, **kwargs):
    return _var(*args, **kwargs).sqrt()


# Products and sums of several.
def _addmm(input, a, b, beta=1, alpha=1):
    return (0 if beta == 0 else _scaled(input, beta)) + _scaled(_complex.call("matmul", (a, b), {}), alpha)


def _scaled(x, by):
    return x if by == 1 else by * x


def _outer(a, b):
    return a.reshape(-1, 1) * b.reshape(1, -1)


def _lerp(input, end, weight):
    return input + weight * (end - input)


def _nan_to_num(input, nan=0.0, posinf=None, neginf=None):
    return _joined(*[_ops["nan_to_num"](_part(input, i), nan, posinf, neginf) for i in (False, True)])


def _losses(row):
    def function(input, target, reduction="mean", **kwargs):
        size = abs(input - target)
        return _ops[row](size, size * 0, reduction=reduction, **kwargs)
    return function


def _distance(x1, x2, p=2.0, eps=1e-6, keepdim=False):
    return _ops["norm"](abs(x1 - x2 + eps), p, -1, keepdim)


def _triplet(anchor, positive, negative, margin=1.0, p=2.0, eps=1e-6, swap=False, reduction="mean"):
    near, far = _distance(anchor, positive, p, eps), _distance(anchor, negative, p, eps)
    if swap:
        far = _ops["minimum"](far, _distance(positive, negative, p, eps))
    loss = (margin + near - far).clamp(min=0)
    return loss if reduction == "none" else loss.mean() if reduction == "mean" else loss.sum()


def _normalize(input, p=2.0, dim=1, eps=1e-12):
    return input / _ops["norm"](abs(input), p, dim, True).clamp(min=eps)


def _rms_norm(input, normalized_shape=None, weight=None, eps=None):
    shape = normalized_shape if normalized_shape is not None else input.shape[-1:]
    shape = [shape] if isinstance(shape, int) else list(shape)
    eps = 1.1920928955078125e-07 if eps is None else eps
    made = input * _complex.call("rsqrt", ((input * input).mean(list(range(-len(shape), 0)), True) + eps,), {})
    return made if weight is None else made * weight


def _solve_triangular(A, B, upper=False, left=True, unitriangular=False):
    """By the real system of twice the size: its blocks are triangular, so each unknown waits for those of its own part alone."""
    from torch._rare.complex_linalg import solve_triangular
    return solve_triangular(A, B, upper=upper, left=left, unitriangular=unitriangular)


FUNCTIONS = {
    "rsub": lambda input, other, alpha=1: other - _scaled(input, alpha), "outer": _outer, "lerp": _lerp, "addmm": _addmm,
    "baddbmm": _addmm,
    "addcmul": lambda input, a, b, value=1: input + _scaled(a * b, value), "addcdiv": lambda input, a, b, value=1: input + _scaled(a / b, value),
    "expm1": _expm1, "log1p": _log1p, "exp2": lambda x: (x * math.log(2.0)).exp(), "log2": lambda x: x.log() / math.log(2.0),
    "log10": lambda x: x.log() / math.log(10.0), "rsqrt": lambda x: 1 / x.sqrt(), "sigmoid": _sigmoid, "silu": lambda x: x * _sigmoid(x),
    "softsign": lambda x: x / (1 + abs(x)), "tanhshrink": lambda x: x - x.tanh(), "sinc": _sinc, "sign": _sign, "nan_to_num": _nan_to_num,
    "asin": _asin, "acos": _acos, "atanh": _atanh, "asinh": _turned(_asin), "atan": _turned(_atanh), "acosh": _acosh,
    "logsumexp": _logsumexp, "logaddexp": _logaddexp, "prod": _product, "cumprod": _cumprod, "var": _var, "std": _std,
    "isfinite": lambda x: pairs(x).isfinite().all(-1), "isinf": lambda x: pairs(x).isinf().any(-1),
    "l1_loss": _losses("l1_loss"), "mse_loss": _losses("mse_loss"), "pairwise_distance": _distance, "triplet_margin_loss": _triplet,
    "normalize": _normalize, "diagonal": _diagonal, "unfold": _unfold, "rms_norm": _rms_norm, "linalg_solve_triangular": _solve_triangular,
}
for _name in "logical_and logical_or logical_xor logical_not any all count_nonzero".split():
    FUNCTIONS[_name] = _of_truth(_name)
for _name in "norm linalg_vector_norm".split():
    FUNCTIONS[_name] = _of_sizes(_name)
for _name in """tril triu tensor_split meshgrid gather index_add hstack vstack dstack unflatten trace tile diff pixel_shuffle
pixel_unshuffle channel_shuffle im2col col2im diag scatter_add masked_scatter index_copy repeat_interleave take_along_dim fold""".split():
    FUNCTIONS[_name] = _by_parts(_name)
for _name, _at in (("pad", 3), ("masked_fill", 2), ("index_fill", 3), ("scatter", 3)):
    FUNCTIONS[_name] = _by_parts(_name, _at)


def _filled(function):
    def fill(input, *args, **kwargs):
        if not input.dtype.is_complex:
            raise RuntimeError("value cannot be converted to type float without overflow")
        return function(input, *args, **kwargs)
    return fill


for _name in "masked_fill", "index_fill":
    FUNCTIONS[_name] = _filled(FUNCTIONS[_name])
for _name in ("conv", "conv_transpose"):
    for _d in (1, 2, 3):
        FUNCTIONS[f"{_name}{_d}d"] = _by_pairs(f"{_name}{_d}d", _d)
