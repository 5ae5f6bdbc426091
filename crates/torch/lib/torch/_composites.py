"""Functions of torch that are made of others, and linear algebra under its old names."""

from torch import _C
from torch._functions import *
from torch._functions import _TYPES, _named
import math

_ops = _C._ops
_here = globals()
__all__ = []

# In place: what methods do, as functions.
def _in_place(name):
    def function(input, *args, **kwargs):
        return getattr(input, name)(*args, **kwargs)
    return function


for _name in """abs_ ceil_ clamp_ cos_ exp_ floor_ log_ neg_ relu_ round_ rsqrt_ sigmoid_ sin_ sqrt_ tanh_ trunc_ zero_ fill_ add_ mul_
clip_ square_ reciprocal_ tan_ erf_ frac_ selu_ threshold_""".split():
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
    return log + where(sign < 0, float("nan"), 0.0)


def cholesky(input, upper=False):
    from torch import linalg
    return linalg.cholesky(input, upper=upper)


def cholesky_solve(B, L, upper=False):
    low = L.mT if upper else L
    half = _ops["linalg_solve_triangular"](low, B, upper=False)
    return _ops["linalg_solve_triangular"](low.mT, half, upper=True)


def cholesky_inverse(L, upper=False):
    return cholesky_solve(_ops["eye"](L.shape[-1], dtype=L.dtype), L, upper)


def triangular_solve(b, A, upper=True):
    return _ops["linalg_solve_triangular"](A, b, upper=upper), A


def qr(input, some=True):
    from torch import linalg
    return linalg.qr(input)


def svd(input, some=True, compute_uv=True):
    from torch import linalg
    u, s, vh = linalg.svd(input, not some)
    return _named("svd", ("U", "S", "V"))((u, s, vh.mT))


def pinverse(input, rcond=1e-15):
    from torch import linalg
    return linalg.pinv(input)


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


def deg2rad(input):
    return input * (math.pi / 180)


def rad2deg(input):
    return input * (180 / math.pi)


def vdot(input, other):
    return _ops["dot"](input, other)


def float_power(input, exponent):
    return _ops["pow"](input, exponent)


def ldexp(input, other):
    return input * 2.0 ** other


def mode(input, dim=-1, keepdim=False):
    """The value that is there most often, of several the least, and the last place where it is."""
    rows = input.movedim(dim, -1) if input.dim() else input.reshape(1)
    n, values, places = rows.shape[-1], [], []
    all_values = _C.values(rows)
    for start in range(0, len(all_values), n):
        row, counts = all_values[start:start + n], {}
        for v in row:
            counts[v] = counts.get(v, 0) + 1
        most = None
        for v, count in counts.items():
            if most is None or (count, -v) > (counts[most], -most):
                most = v
        values.append(most)
        places.append(n - 1 - row[::-1].index(most))
    shape = list(rows.shape[:-1])
    made = [_C.tensor(values, input.dtype).reshape(shape), _C.tensor(places, _C.int64).reshape(shape)]
    return _TYPES["mode"]([m.unsqueeze(dim) for m in made] if keepdim else made)


def isneginf(input):
    return input == float("-inf")


def isposinf(input):
    return input == float("inf")


def isreal(input):
    return _C.full(input.shape, True)


def signbit(input):
    return input < 0


def sgn(input):
    return _ops["sign"](input)


def logaddexp2(input, other):
    return _ops["logaddexp"](input * math.log(2), other * math.log(2)) / math.log(2)


def logcumsumexp(input, dim):
    top = input.detach().amax(dim, keepdim=True)
    return (input - top).exp().cumsum(dim).log() + top


def nanmean(input, dim=None, keepdim=False):
    kept = input.isnan().logical_not()
    return nansum(input, dim, keepdim) / kept.to(input.dtype).sum(dim, keepdim)


def nansum(input, dim=None, keepdim=False):
    return _ops["where"](input.isnan(), _C.full((), 0, input.dtype), input).sum(dim, keepdim)


def nanmedian(input):
    return median(input[input.isnan().logical_not()])


def nanquantile(input, q):
    return quantile(input[input.isnan().logical_not()], q)


def cov(input, *, correction=1, fweights=None, aweights=None):
    x = input.reshape(1, -1) if input.dim() < 2 else input
    apart = x - x.mean(1, keepdim=True)
    return (apart @ apart.t() / (x.shape[1] - correction)).squeeze()


def corrcoef(input):
    made = cov(input)
    if made.dim() == 0:
        return made / made
    d = made.diagonal().sqrt()
    return (made / d.unsqueeze(1) / d.unsqueeze(0)).clamp(-1, 1)


def cross(input, other, dim=-1):
    a, b = input.movedim(dim, 0), other.movedim(dim, 0)
    return _ops["stack"]([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]], dim)


def kron(input, other):
    made = input.unsqueeze(1).unsqueeze(3) * other.unsqueeze(0).unsqueeze(2)
    return made.reshape(input.shape[0] * other.shape[0], input.shape[1] * other.shape[1])


def vander(x, N=None, increasing=False):
    n = x.shape[0] if N is None else N
    powers = range(n) if increasing else range(n - 1, -1, -1)
    return _ops["stack"]([x ** p for p in powers], 1)


def trapezoid(y, x=None, *, dx=1.0, dim=-1):
    y = y.movedim(dim, -1)
    width = dx if x is None else x.diff()
    return (width * (y[..., 1:] + y[..., :-1]) / 2).sum(-1)


trapz = trapezoid


def cumulative_trapezoid(y, x=None, *, dx=1.0, dim=-1):
    width = dx if x is None else x.diff()
    return (width * (y[..., 1:] + y[..., :-1]) / 2).cumsum(-1)


def gradient(input, *, spacing=1.0, dim=None, edge_order=1):
    dims = list(range(input.dim())) if dim is None else [dim] if isinstance(dim, int) else list(dim)
    out = []
    for d in dims:
        x = input.movedim(d, 0)
        made = _ops["cat"]([x[1:2] - x[:1], (x[2:] - x[:-2]) / 2, x[-1:] - x[-2:-1]]) / spacing
        out.append(made.movedim(0, d))
    return tuple(out)


def unique_consecutive(input, return_inverse=False, return_counts=False, dim=None):
    values, found, places = _C.values(input), [], []
    counts = []
    for v in values:
        if found and found[-1] == v:
            counts[-1] += 1
        else:
            found.append(v)
            counts.append(1)
        places.append(len(found) - 1)
    out = [_C.tensor(found, input.dtype)]
    if return_inverse:
        out.append(_C.tensor(places, _C.int64).reshape(input.shape))
    if return_counts:
        out.append(_C.tensor(counts, _C.int64))
    return out[0] if len(out) == 1 else tuple(out)


def unravel_index(indices, shape):
    left, made = indices, []
    for n in reversed(shape):
        made.insert(0, left % n)
        left = left // n
    return tuple(made)


def hsplit(input, indices_or_sections):
    return _ops["tensor_split"](input, indices_or_sections, 1 if input.dim() > 1 else 0)


def vsplit(input, indices_or_sections):
    return _ops["tensor_split"](input, indices_or_sections, 0)


def dsplit(input, indices_or_sections):
    return _ops["tensor_split"](input, indices_or_sections, 2)


def atleast_3d(*tensors):
    out = [t.reshape(1, -1, 1) if t.dim() < 2 else t.unsqueeze(-1) if t.dim() == 2 else t for t in tensors]
    return out[0] if len(out) == 1 else tuple(out)


def _integers(function):
    def run(input, other):
        a, b = broadcast_tensors(input, other)
        return _C.tensor([function(x, y) for x, y in zip(_C.values(a), _C.values(b))], input.dtype).reshape(a.shape)
    return run


gcd, lcm = _integers(math.gcd), _integers(math.lcm)


def renorm(input, p, dim, maxnorm):
    rows = input.movedim(dim, 0).flatten(1)
    norms = norm(rows, p, 1, True)
    made = _ops["where"](norms > maxnorm, rows * (maxnorm / (norms + 1e-7)), rows)
    return made.reshape(input.movedim(dim, 0).shape).movedim(0, dim)


def addr(input, vec1, vec2, *, beta=1, alpha=1):
    return beta * input + alpha * _ops["outer"](vec1, vec2)


def addbmm(input, batch1, batch2, *, beta=1, alpha=1):
    return beta * input + alpha * (batch1 @ batch2).sum(0)


def index_put(input, indices, values, accumulate=False):
    made = input.clone()
    made.index_put_(indices, values, accumulate)
    return made


def select_scatter(input, src, dim, index):
    made = input.clone()
    made.select(dim, index).copy_(src)
    return made


def slice_scatter(input, src, dim=0, start=None, end=None, step=1):
    made = input.clone()
    made.movedim(dim, 0)[start:end:step].copy_(src.movedim(dim, 0))
    return made


def as_strided(input, size, stride, storage_offset=None):
    """By positions in the elements in order: right for tensors that are not views, and not a view itself."""
    places = _C.full((), storage_offset or 0, _C.int64)
    for n, step in zip(size, stride):
        places = places.unsqueeze(-1) + _C.tensor([i * step for i in range(n)], _C.int64)
    return input.reshape(-1)[places]


def fake_quantize_per_tensor_affine(input, scale, zero_point, quant_min, quant_max):
    scale = scale.item() if isinstance(scale, _C.Tensor) else scale
    zero_point = zero_point.item() if isinstance(zero_point, _C.Tensor) else zero_point
    x = input.detach()
    whole = _ops["round"](x / scale) + zero_point
    made = (whole.clamp(quant_min, quant_max) - zero_point) * scale
    # The gradient passes where the value was not clamped.
    passed = input * ((whole >= quant_min) & (whole <= quant_max)).to(input.dtype)
    return made + (passed - passed.detach()) if input.requires_grad else made


def resolve_conj(input):
    return input


def _window(a, b):
    def window(window_length, periodic=True, *, dtype=None, device=None):
        n = window_length if periodic else window_length - 1
        values = [a - b * math.cos(2 * math.pi * i / n) if n > 0 else 1.0 for i in range(window_length)]
        return _C.tensor(values, dtype or _C.get_default_dtype())
    return window


hann_window, hamming_window = _window(0.5, 0.5), _window(0.54, 0.46)


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

__all__ += """mode det inverse slogdet logdet cholesky cholesky_solve cholesky_inverse triangular_solve qr svd pinverse matrix_power matrix_exp
chain_matmul nuclear_norm diag_embed diagflat fmax fmin deg2rad rad2deg vdot float_power ldexp isneginf isposinf isreal signbit sgn
logaddexp2 logcumsumexp nanmean nansum nanmedian nanquantile cov corrcoef cross kron vander trapezoid trapz cumulative_trapezoid gradient
unique_consecutive unravel_index hsplit vsplit dsplit atleast_3d gcd lcm renorm addr addbmm index_put select_scatter slice_scatter
as_strided fake_quantize_per_tensor_affine resolve_conj hann_window hamming_window arccosh arcsinh arctanh arctan2 fix negative""".split()
arccosh, arcsinh, arctanh, arctan2, fix = _ops["acosh"], _ops["asinh"], _ops["atanh"], _ops["atan2"], _ops["trunc"]
