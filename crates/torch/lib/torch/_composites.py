"""Functions of torch that are made of others, and linear algebra under its old names."""

from torch import _C
from torch._functions import *
from torch._functions import _beyond, _into, _named, _pair, _ranked, as_strided, each_alone, only_tensors, scaled_sum
import functools
import math

_count = range
_ops = _C._ops
_here = globals()
__all__ = []

# In place: what methods do, as functions.
def _in_place(name):
    def function(input, *args, **kwargs):
        return getattr(input, name)(*args, **kwargs)
    return function


for _name in """abs_ ceil_ clamp_ cos_ exp_ floor_ log_ neg_ relu_ round_ rsqrt_ sigmoid_ sin_ sqrt_ tanh_ trunc_ zero_ fill_ add_ mul_
clip_ square_ reciprocal_ tan_ erf_ frac_ selu_ threshold_ acos_ acosh_ asin_ asinh_ atan_ atanh_ celu_ clamp_max_ clamp_min_ cosh_
erfc_ exp2_ expm1_ sinh_ sinc_ log10_ log1p_ log2_ logit_ nan_to_num_ xlogy_ ldexp_ gcd_ lcm_ addmv_ detach_ resize_as_
deg2rad_ rad2deg_ fix_ negative_ arccos_ arccosh_ arcsin_ arcsinh_ arctan_ arctanh_""".split():
    _here[_name] = _in_place(_name)
    __all__.append(_name)


def det(input):
    from torch import linalg
    return linalg.det(input)


def inverse(input):
    from torch import linalg
    return linalg.inv(input)


def slogdet(input):
    from torch import linalg
    return _named("slogdet", ("sign", "logabsdet"))(tuple(linalg.slogdet(input)))


def logdet(input):
    sign, log = slogdet(input)
    return log + (sign.log() if sign.dtype.is_complex else where(sign < 0, float("nan"), 0.0))


def cholesky(input, upper=False):
    from torch import linalg
    return linalg.cholesky(input, upper=upper)


def triangular_solve(b, A, upper=True, transpose=False, unitriangular=False):
    from torch import linalg
    solved = linalg.solve_triangular(A.mT if transpose else A, b, upper=upper != transpose, unitriangular=unitriangular)
    return _named("triangular_solve", ("solution", "cloned_coefficient"))((solved, A))


def lu(A, pivot=True, get_infos=False):
    from torch import linalg
    made = linalg.lu_factor_ex(A, pivot=pivot)
    return tuple(made) if get_infos else tuple(made)[:2]


def lu_solve(b, LU_data, LU_pivots):
    from torch import linalg
    return linalg.lu_solve(LU_data, LU_pivots, b)


def diagonal_scatter(input, src, offset=0, dim1=0, dim2=1):
    made = input.clone()
    made.diagonal(offset, dim1, dim2).copy_(src)
    return made


def _copied(name):
    """What a view shows, as a tensor of its own."""
    def function(input, *args, **kwargs):
        made = getattr(input, name)(*args, **kwargs)
        return tuple([m.clone() for m in made]) if isinstance(made, (list, tuple)) else made.clone()
    return function


_COPIES = """as_strided diagonal expand narrow permute select split split_with_sizes squeeze t transpose unbind unfold unsqueeze view
detach""".split()
for _name in _COPIES:
    _here[_name + "_copy"] = _copied(_name)
    __all__.append(_name + "_copy")


def alias_copy(input):
    return input.clone()


def conj_physical(input):
    return input.conj()


def qr(input, some=True):
    from torch import linalg
    return linalg.qr(input)


def svd(input, some=True, compute_uv=True):
    from torch import linalg
    u, s, vh = linalg.svd(input, not some)
    return _named("svd", ("U", "S", "V"))((u, s, vh.mT))


def pinverse(input, rcond=1e-15):
    from torch import linalg
    return linalg.pinv(input, rcond)


def matrix_power(input, n):
    from torch import linalg
    return linalg.matrix_power(input, n)


def matrix_exp(input):
    from torch import linalg
    return linalg.matrix_exp(input)


def chain_matmul(*matrices):
    from torch import linalg
    return linalg.multi_dot(matrices)


def nuclear_norm(input):
    from torch import linalg
    return linalg.matrix_norm(input, "nuc")


def diag_embed(input, offset=0, dim1=-2, dim2=-1):
    n = input.shape[-1] + (offset if offset > 0 else -offset)
    made = _ops["pad"](input, [offset if offset > 0 else 0, -offset if offset < 0 else 0]) if offset else input
    place = _ops["eye"](n, dtype=_C.bool) if not offset else _C.tensor([[c - r == offset for c in range(n)] for r in range(n)], _C.bool)
    spread = made.unsqueeze(-2) if offset > 0 else made.unsqueeze(-2) if offset == 0 else _ops["pad"](input, [0, -offset]).unsqueeze(-2)
    made = _ops["where"](place, spread.expand(*spread.shape[:-2], n, n), _C.full((), 0, input.dtype))
    return made if (dim1, dim2) == (-2, -1) else made.movedim((-2, -1), (dim1, dim2))


def diagflat(input, offset=0):
    return diag_embed(input.reshape(-1), offset)


def fmax(input, other):
    return _ops["where"](input.isnan(), other, _ops["where"](other.isnan(), input, _ops["maximum"](input, other)))


def fmin(input, other):
    return _ops["where"](input.isnan(), other, _ops["where"](other.isnan(), input, _ops["minimum"](input, other)))


fmax, fmin = [only_tensors(_n, _here[_n], "input", "other") for _n in ("fmax", "fmin")]


def deg2rad(input):
    return input * (math.pi / 180)


def rad2deg(input):
    return input * (180 / math.pi)


def vdot(input, other):
    return _ops["dot"](input.conj(), other)


def of_a_tensor(name, *args):
    """Refuses a call of numbers alone, as functions do of which one operand may be a number."""
    if not [x for x in args if isinstance(x, _C.Tensor)]:
        types = ", ".join([type(x).__name__ for x in args])
        raise TypeError(f"{name}() received an invalid combination of arguments - got ({types}), but expected one of:")


def float_power(input, exponent):
    of_a_tensor("float_power", input, exponent)
    wide = [x.double() if isinstance(x, _C.Tensor) else x for x in (input, exponent)]
    return _ops["pow"](*wide)


def ldexp(input, other):
    return input * 2.0 ** other


ldexp = only_tensors("ldexp", ldexp, "input", "other")


def isneginf(input, *, out=None):
    return _into(out, input == float("-inf"))


def isposinf(input, *, out=None):
    return _into(out, input == float("inf"))


def isreal(input):
    return input.imag == 0 if input.dtype.is_complex else _C.full(input.shape, True)


def signbit(input):
    # The sign of zero shows in what one is divided by it.
    return (input < 0) | ((input == 0) & (1.0 / input < 0)) if input.dtype.is_floating_point else input < 0


def sgn(input):
    return _ops["sign"](input)


def logaddexp2(input, other):
    return _ops["logaddexp"](input * math.log(2), other * math.log(2)) / math.log(2)


def logcumsumexp(input, dim):
    # Each sum with the one that ends before it begins, of 1, 2, 4 .. elements: nothing is lost below the largest.
    made, by = input if input.dtype.is_floating_point or input.dtype.is_complex else input.to(_C.get_default_dtype()), 1
    n = input.shape[dim] if input.dim() else 1
    while by < n:
        added = _ops["logaddexp"](made.narrow(dim, by, n - by), made.narrow(dim, 0, n - by))
        made, by = _ops["cat"]([made.narrow(dim, 0, by), added], dim), 2 * by
    return made


def nanmean(input, dim=None, keepdim=False, *, dtype=None):
    input = input if dtype is None else input.to(dtype)
    kept = input.isnan().logical_not()
    return nansum(input, dim, keepdim) / kept.to(input.dtype).sum(dim, keepdim)


def nansum(input, dim=None, keepdim=False, *, dtype=None):
    input = input if dtype is None else input.to(dtype)
    return _ops["where"](input.isnan(), _C.full((), 0, input.dtype), input).sum(dim, keepdim)


def nanmedian(input, dim=None, keepdim=False, *, out=None):
    if out is not None:
        made = nanmedian(input, dim, keepdim)
        return _into(out, made) if dim is None else _pair("nanmedian", made, out)
    if dim is None:
        kept = input[input.isnan().logical_not()]
        return median(kept) if kept.numel() else _C.full((), float("nan"), input.dtype)
    if not input.dim():
        return _pair("nanmedian", (input, _C.full((), 0, _C.int64)))
    # NaN comes last.
    values, order = _ops["sort"](input, dim)
    at = (input.isnan().logical_not().sum(dim, keepdim=True) - 1).clamp(min=0) // 2
    pair = values.gather(dim, at), order.gather(dim, at)
    pair = pair if keepdim else (pair[0].squeeze(dim), pair[1].squeeze(dim))
    return _pair("nanmedian", pair)


def nanquantile(input, q, dim=None, keepdim=False, *, interpolation="linear", out=None):
    return _into(out, _ranked("nanquantile", input, q, dim, keepdim, interpolation, True))


def cross(input, other, dim=None):
    if dim is None:
        # What numpy did: the first dimension of three.
        dim = [d for d, n in enumerate(input.shape) if n == 3][:1]
        if not dim:
            raise RuntimeError("no dimension of size 3 in input")
        dim, = dim
    if input.dim() != other.dim():
        raise RuntimeError("linalg.cross: inputs must have the same number of dimensions.")
    if input.dim() and -input.dim() <= dim < input.dim() and (input.shape[dim] != 3 or other.shape[dim] != 3):
        raise RuntimeError(f"linalg.cross: inputs dimension {dim} must have length 3. Got {input.shape[dim]} and {other.shape[dim]}")
    a, b = input.movedim(dim, 0), other.movedim(dim, 0)
    return _ops["stack"]([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]], dim)


def kron(input, other):
    rank = input.dim() if input.dim() > other.dim() else other.dim()
    a = [1] * (rank - input.dim()) + list(input.shape)
    b = [1] * (rank - other.dim()) + list(other.shape)
    made = input.reshape([n for size in a for n in (size, 1)]) * other.reshape([n for size in b for n in (1, size)])
    return made.reshape([m * n for m, n in zip(a, b)])


def vander(x, N=None, increasing=False):
    n = x.shape[0] if N is None else N
    powers = range(n) if increasing else range(n - 1, -1, -1)
    return _ops["stack"]([x ** p for p in powers], 1)


def _trapezoids(y, x, dx, dim):
    y = y.movedim(dim, -1)
    if x is None:
        width = dx
    else:
        width = (x if x.dim() == 1 else x.movedim(dim, -1)).diff()
    return width * (y[..., 1:] + y[..., :-1]) / 2


def trapezoid(y, x=None, *, dx=1.0, dim=-1):
    return _trapezoids(y, x, dx, dim).sum(-1)


trapz = trapezoid


def cumulative_trapezoid(y, x=None, *, dx=1.0, dim=-1):
    return _trapezoids(y, x, dx, dim).cumsum(-1).movedim(-1, dim)


def unravel_index(indices, shape):
    left, made = indices.to(_C.int64), []
    for n in reversed(shape):
        made.insert(0, left % n)
        left = left // n
    return tuple(made)


def hsplit(input, indices_or_sections):
    return _ops["tensor_split"](input, indices_or_sections, 1 if input.dim() > 1 else 0)


def vsplit(input, indices_or_sections):
    return _ops["tensor_split"](input, indices_or_sections, 0)


def dsplit(input, indices_or_sections):
    if input.dim() < 3:
        raise RuntimeError("torch.dsplit requires a tensor with at least 3 dimension, but got a tensor with "
                           f"{input.dim()} dimensions!")
    return _ops["tensor_split"](input, indices_or_sections, 2)


atleast_3d = each_alone(lambda t: t.reshape(1, -1, 1) if t.dim() < 2 else t.unsqueeze(-1) if t.dim() == 2 else t)


def _integers(function):
    def run(input, other):
        a, b = broadcast_tensors(input, other)
        return _C.tensor([function(x, y) for x, y in zip(_C.values(a), _C.values(b))], input.dtype).reshape(a.shape)
    return run


gcd, lcm = [only_tensors(_n, _integers(getattr(math, _n)), "input", "other") for _n in ("gcd", "lcm")]


def renorm(input, p, dim, maxnorm):
    if input.dim() < 2:
        raise RuntimeError(f"renorm: input needs at least 2 dimensions, got {input.dim()} dimensions")
    if p <= 0:
        raise RuntimeError("renorm: non-positive-norm not supported")
    if maxnorm < 0:
        raise RuntimeError(f"renorm: expected maxnorm to be >= 0 but got {maxnorm}")
    rows = input.movedim(dim, 0).flatten(1)
    norms = norm(rows, p, 1, True)
    made = _ops["where"](norms > maxnorm, rows * (maxnorm / (norms + 1e-7)), rows)
    return made.reshape(input.movedim(dim, 0).shape).movedim(0, dim)


def addr(input, vec1, vec2, *, beta=1, alpha=1):
    if [t for t in (input, vec1, vec2) if t.dtype != _C.bool]:
        if not input.dtype.is_floating_point and not input.dtype.is_complex:
            for name, n in (("beta", beta), ("alpha", alpha)):
                if isinstance(n, float):
                    raise RuntimeError(f"For integral input tensors, argument {name} must not be a floating point number.")
        return scaled_sum(input, _ops["outer"](vec1, vec2), beta, alpha)
    made = vec1.unsqueeze(1) & vec2 if alpha else _C.full((vec1.shape[0], vec2.shape[0]), False)
    return made | input if beta else made


def addbmm(input, batch1, batch2, *, beta=1, alpha=1):
    return scaled_sum(input, (batch1 @ batch2).sum(0, dtype=batch1.dtype), beta, alpha)


def index_put(input, indices, values, accumulate=False):
    if not accumulate:
        made = input.clone()
        made[tuple(indices)] = values
        return made
    # Places of the leading dimensions as one number: what comes to one place is added.
    places = []
    for index in indices:
        if index is None:
            raise NotImplementedError("index_put with None among its indices and accumulate=True")
        places += list(_C.nonzero(index)) if index.dtype == _C.bool else [index]
    places = list(broadcast_tensors(*places))
    lead, rest = list(input.shape[:len(places)]), list(input.shape[len(places):])
    flat = _C.full(places[0].shape, 0, _C.int64)
    for index, n in zip(places, lead):
        flat = flat * n + _ops["where"](index < 0, index + n, index)
    values = values.to(input.dtype).expand(list(flat.shape) + rest).reshape([-1] + rest)
    return input.reshape([math.prod(lead)] + rest).index_add(0, flat.reshape(-1), values).reshape(input.shape)


def select_scatter(input, src, dim, index):
    made = input.clone()
    made.select(dim, index).copy_(src)
    return made


def slice_scatter(input, src, dim=0, start=None, end=None, step=1):
    made = input.clone()
    made.movedim(dim, 0)[start:end:step].copy_(src.movedim(dim, 0))
    return made


def fake_quantize_per_tensor_affine(input, scale, zero_point, quant_min, quant_max):
    scale = scale.item() if isinstance(scale, _C.Tensor) else scale
    zero_point = zero_point.item() if isinstance(zero_point, _C.Tensor) else zero_point
    return _fake_quantized(input, scale, zero_point, quant_min, quant_max)


def _fake_quantized(input, scale, zero_point, quant_min, quant_max):
    x = input.detach()
    whole = _ops["round"](x / scale) + zero_point
    made = (whole.clamp(quant_min, quant_max) - zero_point) * scale
    # The gradient passes where the value was not clamped.
    passed = input * ((whole >= quant_min) & (whole <= quant_max)).to(input.dtype)
    return made + (passed - passed.detach()) if input.requires_grad else made


def resolve_conj(input):
    return input


resolve_neg = resolve_conj


def fill(input, value):
    return input.clone().fill_(value)


def constant_pad_nd(input, pad, value=0):
    return _ops["pad"](input, pad, value=float(value) if isinstance(value, bool) else value)


def split_with_sizes(input, split_sizes, dim=0):
    return _ops["split"](input, list(split_sizes), dim)


def sum_to_size(input, *size):
    size = size[0] if len(size) == 1 and isinstance(size[0], (tuple, list)) else size
    lead = input.dim() - len(size)
    dims = list(range(lead)) + [lead + d for d, n in enumerate(size) if n == 1 and input.shape[lead + d] != 1]
    return (input.sum(dims, keepdim=True) if dims else input).reshape(list(size))


def index_reduce(input, dim, index, source, reduce, *, include_self=True):
    if input.dim() and _C.outside(index, 0, input.shape[dim]):
        raise IndexError("index out of range in self")
    if not input.dim():
        return index_reduce(input.reshape(1), 0, index, source.reshape(1), reduce, include_self=include_self).reshape(())
    shape = [1] * input.dim()
    shape[dim] = -1
    return _ops["scatter_reduce"](input, dim, index.reshape(shape).expand(source.shape), source, reduce, include_self=include_self)


def put(input, index, source, accumulate=False):
    _beyond(input, index)
    made = input.clone().reshape(-1)
    return made.index_put((index.reshape(-1),), source.reshape(-1), accumulate).reshape(input.shape)


def mvlgamma(input, p):
    made = input * 0 + p * (p - 1) / 4 * math.log(math.pi)
    for i in _count(p):
        made = made + _ops["lgamma"](input - i / 2)
    return made


def polygamma(n, input):
    """For n of 1 and more by the recurrence up to large arguments, and there by the asymptotic series (DLMF 5.15)."""
    if n < 0:
        raise RuntimeError("polygamma(n, x) does not support negative n.")
    if n == 0:
        return _ops["digamma"](input)
    kind = input.dtype if input.dtype.is_floating_point else _C.get_default_dtype()
    sign, factorial = 1.0 if n % 2 else -1.0, math.factorial(n)
    x = input.to(_C.float32)
    made = x * 0
    for _ in _count(20):
        made, x = made + factorial / x ** (n + 1), x + 1
    made = made + math.factorial(n - 1) / x ** n + factorial / (2 * x ** (n + 1))
    for k, bernoulli in ((1, 1 / 6), (2, -1 / 30), (3, 1 / 42), (4, -1 / 30), (5, 5 / 66)):
        made = made + bernoulli * math.factorial(2 * k + n - 1) / math.factorial(2 * k) / x ** (2 * k + n)
    return (sign * made).to(kind)


def i0(input):
    """The modified Bessel function of order 0: its series for small arguments, the asymptotic one beyond (DLMF 10.25.2, 10.40.1)."""
    x = (input if input.dtype.is_floating_point else input.to(_C.get_default_dtype())).abs()
    near, far = x.clamp(max=15.0), x.clamp(min=15.0)
    quarter, term = near * near / 4, near * 0 + 1
    small = term
    for k in _count(1, 40):
        term = term * quarter / (k * k)
        small = small + term
    term = far * 0 + 1
    large = term
    for k in _count(1, 9):
        term = term * (2 * k - 1) ** 2 / (8 * k * far)
        large = large + term
    return _ops["where"](x <= 15.0, small, large * far.exp() / (2 * math.pi * far).sqrt())


def poisson(input, generator=None):
    from torch.distributions import Poisson
    return Poisson(input, validate_args=False).sample()


def binomial(count, prob, generator=None):
    from torch.distributions.discrete import binomial
    return binomial(count, prob)


def matrix_rank(input, tol=None, symmetric=False):
    from torch import linalg
    return linalg.matrix_rank(input, tol=tol)


def is_signed(input):
    return input.dtype not in (_C.bool, _C.uint8)


def is_same_size(input, other):
    return tuple(input.shape) == tuple(other.shape)


def adjoint(input):
    return input.mH


def frombuffer(buffer, *, dtype, count=-1, offset=0, requires_grad=False):
    size = dtype.itemsize
    if not isinstance(buffer, (bytes, bytearray, memoryview)) and not hasattr(buffer, "tobytes"):
        raise ValueError("object does not implement Python buffer protocol.")
    held = buffer.tobytes() if hasattr(buffer, "tobytes") else bytes(buffer)
    if not held or count == 0:
        raise ValueError(f"both buffer length ({len(held)}) and count ({count}) must not be 0")
    if not 0 <= offset < len(held):
        raise ValueError(f"offset ({offset} bytes) must be non-negative and no greater than buffer length ({len(held)} bytes) minus 1")
    part = held[offset:] if count < 0 else held[offset:offset + count * size]
    if count < 0 and len(part) % size:
        raise ValueError(f"buffer length ({len(part)} bytes) after offset ({offset} bytes) must be a multiple of element size ({size})")
    if len(part) < count * size:
        raise ValueError(f"requested buffer length ({count} * {size} bytes) after offset ({offset} bytes) must not be greater than actual "
                         f"buffer length ({len(held)} bytes)")
    made = _C.from_bytes(part, dtype, [len(part) // size])
    return made.requires_grad_() if requires_grad else made


def _window(value, *defaults):
    """A window by its value at a share of its period, and by numbers of its own."""
    def window(window_length, periodic=True, *numbers, dtype=None, device=None, layout=None, requires_grad=False, **named):
        n = window_length if periodic else window_length - 1
        given = list(numbers) + [named.get(name, default) for name, default in defaults[len(numbers):]]
        made = [value(i / n, *given) if n > 0 else 1.0 for i in _count(window_length)]
        return _C.tensor(made, dtype or _C.get_default_dtype())
    return window


def _bessel(x):
    """The modified Bessel function of order zero, by its series."""
    term = total = 1.0
    for k in _count(1, 60):
        term *= (x / (2 * k)) ** 2
        total += term
    return total


hann_window = _window(lambda t: 0.5 - 0.5 * math.cos(2 * math.pi * t))
hamming_window = _window(lambda t, alpha, beta: alpha - beta * math.cos(2 * math.pi * t), ("alpha", 0.54), ("beta", 0.46))
kaiser_window = _window(lambda t, beta: _bessel(beta * math.sqrt(math.fabs(1 - (2 * t - 1) ** 2))) / _bessel(beta), ("beta", 12.0))
bartlett_window = _window(lambda t: 1 - math.fabs(2 * t - 1))
blackman_window = _window(lambda t: 0.42 - 0.5 * math.cos(2 * math.pi * t) + 0.08 * math.cos(4 * math.pi * t))


def _apart(cut):
    # No views: they may be changed in place.
    return lambda *args, **kwargs: tuple(part.clone() for part in cut(*args, **kwargs))


unsafe_split_with_sizes, unsafe_split, unsafe_chunk = _apart(split_with_sizes), _apart(_ops["split"]), _apart(_ops["chunk"])


def _of_functional(name):
    def function(*args, **kwargs):
        from torch.nn import functional
        return getattr(functional, name)(*args, **kwargs)
    return function


for _name in """adaptive_avg_pool1d adaptive_max_pool1d alpha_dropout avg_pool1d max_pool1d max_pool2d max_pool3d bilinear
binary_cross_entropy_with_logits cosine_embedding_loss ctc_loss embedding_bag hardshrink hinge_embedding_loss kl_div
margin_ranking_loss pdist poisson_nll_loss triplet_margin_loss rrelu channel_shuffle""".split():
    _here[_name] = _of_functional(_name)
    __all__.append(_name)

__all__ += """det inverse slogdet logdet cholesky triangular_solve qr svd pinverse matrix_power matrix_exp
chain_matmul nuclear_norm diag_embed diagflat fmax fmin deg2rad rad2deg vdot float_power ldexp isneginf isposinf isreal signbit sgn
logaddexp2 logcumsumexp nanmean nansum nanmedian nanquantile cross kron vander trapezoid trapz cumulative_trapezoid
unravel_index hsplit vsplit dsplit atleast_3d gcd lcm renorm addr addbmm index_put select_scatter slice_scatter
as_strided fake_quantize_per_tensor_affine resolve_conj resolve_neg hann_window
hamming_window kaiser_window adjoint bartlett_window blackman_window fill constant_pad_nd split_with_sizes unsafe_split_with_sizes unsafe_split unsafe_chunk
lu lu_solve diagonal_scatter alias_copy conj_physical index_reduce put mvlgamma polygamma i0 poisson binomial matrix_rank is_signed is_same_size frombuffer arccosh arcsinh arctanh arctan2 fix negative""".split()


def _with_out(function):
    @functools.wraps(function)
    def made(*args, out=None, **kwargs):
        return _into(out, function(*args, **kwargs))
    return made


for _name in """inverse cholesky cholesky_inverse cholesky_solve matrix_power fmax fmin deg2rad rad2deg vdot float_power ldexp signbit sgn
logaddexp2 logcumsumexp nanmean nansum cross kron gcd lcm renorm addr addbmm polygamma""".split():
    if _name in _here:
        _here[_name] = _with_out(_here[_name])
arccosh, arcsinh, arctanh, arctan2, fix = _ops["acosh"], _ops["asinh"], _ops["atanh"], _ops["atan2"], _ops["trunc"]
