"""torch.masked: reductions and normalizations of the elements that a mask shows. Masks and tensors are dense."""

import _missing
import sys
import torch

_ops = sys.modules[__name__]

__all__ = """amax amin argmax argmin cumprod cumsum log_softmax logaddexp logsumexp mean median norm normalize prod softmax softmin std sum
var""".split()


def _reduction_identity(name, input, *args):
    """What takes no part in a reduction, in the type of the input."""
    kind = input.dtype
    if name in ("sum", "cumsum") or name == "norm" and not (args and args[0] == -torch.inf):
        return torch.tensor(0, dtype=kind)
    if name in ("prod", "cumprod"):
        return torch.tensor(1, dtype=kind)
    if name == "median":
        return torch.tensor(torch.nan, dtype=kind if kind.is_floating_point else torch.float32)
    high = name in ("amin", "argmin", "norm")
    if high or name in ("amax", "argmax", "logaddexp", "logsumexp"):
        if kind.is_floating_point or kind.is_complex and name == "logsumexp":
            return torch.tensor(torch.inf if high else -torch.inf, dtype=kind)
        if kind != torch.bool and not kind.is_complex:
            # The device's integers have 32 bits.
            ends = torch.iinfo(torch.int32 if kind == torch.int64 else kind)
            return torch.tensor(ends.max if high else ends.min, dtype=kind)
    if name in ("mean", "var", "std"):
        return None
    raise NotImplementedError(f"identity of {name} on {kind} input")


def _canonical_dim(dim, ndim):
    """All dimensions for none, else those that are given, in order."""
    if dim is None or dim == ():
        return tuple(range(ndim))
    rank, dims = max(ndim, 1), []
    for d in (dim,) if isinstance(dim, int) else dim:
        if d in dims:
            raise RuntimeError(f"dim={d} appears multiple times in the list of dims")
        if d >= rank or d < -rank:
            raise IndexError(f"Dimension out of range (expected to be in range of [{-rank}, {rank - 1}], but got {d})")
        dims.append(d % rank)
    return tuple(sorted(dims))


def _dense(name, *tensors):
    for t in tensors:
        if t.layout != torch.strided:
            raise NotImplementedError(f"torch.masked.{name}() of sparse tensors; use to_dense()")


def _input_mask(input, *args, **kwargs):
    mask = kwargs.get("mask")
    if mask is None:
        raise ValueError("_input_mask requires explicit mask")
    mask = mask.to_dense()
    if mask.shape != input.shape:
        if mask.dim() > input.dim():
            raise IndexError("_input_mask expected broadcastable mask (got mask dimensionality higher than of the input)")
        mask = torch.broadcast_to(mask, input.shape)
    return mask.to(torch.bool)


def _shown(name, input, mask, *args):
    """The input with what takes no part in the reduction where it is masked out."""
    _dense(name, input)
    return input if mask is None else torch.where(_input_mask(input, mask=mask), input, _reduction_identity(name, input, *args))


def _summed(kind):
    return torch.int64 if kind in (torch.uint8, torch.bool, torch.int8, torch.int16, torch.int32) else kind


def sum(input, dim=None, *, keepdim=False, dtype=None, mask=None):
    return torch.sum(_shown("sum", input, mask), _canonical_dim(dim, input.dim()), bool(keepdim), dtype=dtype or _summed(input.dtype))


def prod(input, dim=None, *, keepdim=False, dtype=None, mask=None):
    made = _shown("prod", input, mask).to(dtype or _summed(input.dtype))
    for d in reversed(_canonical_dim(dim, input.dim())):
        made = made.prod(dim=d, keepdim=bool(keepdim))
    return made


def _running(name, rest):
    def function(input, dim, *, dtype=None, mask=None):
        dtype = dtype or input.dtype
        return getattr(torch, name)(_shown(rest, input, mask), _canonical_dim(dim, input.dim())[0], dtype=dtype).to(dtype)
    return function


cumsum, cumprod = _running("cumsum", "sum"), _running("cumprod", "prod")


def _extreme(name):
    def function(input, dim=None, *, keepdim=False, dtype=None, mask=None):
        made = getattr(torch, name)(_shown(name, input, mask), _canonical_dim(dim, input.dim()), bool(keepdim))
        return made.to(dtype or input.dtype)
    return function


amax, amin = _extreme("amax"), _extreme("amin")


def _place(name):
    def function(input, dim=None, *, keepdim=False, dtype=None, mask=None):
        return getattr(torch, name)(_shown(name, input, mask), dim, bool(keepdim)).to(dtype or input.dtype)
    return function


argmax, argmin = _place("argmax"), _place("argmin")


def _count(input, dim, keepdim, mask):
    return torch.sum(torch.ones(input.shape, dtype=torch.int64) if mask is None else mask, _canonical_dim(dim, input.dim()), bool(keepdim))


def mean(input, dim=None, *, keepdim=False, dtype=None, mask=None):
    source, dtype = "Input" if dtype is None else "Optional", dtype or input.dtype
    if not dtype.is_floating_point and not dtype.is_complex:
        raise ValueError(f"mean(): Could not infer output dtype. {source} dtype must be either a floating point or complex dtype. Got: {dtype}")
    _dense("mean", input)
    mask = None if mask is None else _input_mask(input, mask=mask)
    return sum(input, dim, keepdim=keepdim, dtype=dtype, mask=mask) / _count(input, dim, keepdim, mask)


def median(input, dim=-1, *, keepdim=False, dtype=None, mask=None):
    given = input if input.dtype.is_floating_point else input.float()
    made = torch.nanmedian(_shown("median", given, mask), _canonical_dim(dim, input.dim())[0], keepdim).values
    if given is input:
        return made
    if torch.isnan(made).any():
        raise ValueError("masked median expects no fully masked out rows if dtype is not floating point")
    return made.to(dtype or input.dtype)


def logsumexp(input, dim=None, *, keepdim=False, dtype=None, mask=None):
    shown = _shown("logsumexp", input, mask)
    return torch.logsumexp(shown, _canonical_dim(dim, input.dim()), keepdim=keepdim).to(dtype or input.dtype)


def logaddexp(input, other, *, dtype=None, input_mask=None, other_mask=None):
    made = torch.logaddexp(_shown("logaddexp", input, input_mask), _shown("logaddexp", other, other_mask))
    return made.to(dtype or input.dtype)


def norm(input, ord=2.0, dim=None, *, keepdim=False, dtype=None, mask=None):
    shown = _shown("norm", input, mask, ord)
    return torch.linalg.vector_norm(shown, ord, _canonical_dim(dim, input.dim()), bool(keepdim), dtype=dtype or input.dtype)


def var(input, dim=None, unbiased=None, *, correction=None, keepdim=False, dtype=None, mask=None):
    if unbiased is not None and correction is not None:
        raise AssertionError("Only one of unbiased and correction may be given")
    less = float(correction) if correction is not None else 0.0 if unbiased is False else 1.0
    _dense("var", input)
    wide = lambda kind: kind if kind.is_floating_point or kind.is_complex else torch.float32
    dtype = dtype or wide(input.dtype)
    mask = None if mask is None else _input_mask(input, mask=mask)
    apart = input - sum(input, dim, keepdim=True, dtype=dtype, mask=mask) / _count(input, dim, True, mask)
    total = sum(apart * apart.conj(), dim, keepdim=keepdim, dtype=wide(dtype), mask=mask)
    count = _count(input, dim, keepdim, mask)
    if less:
        count = (count.to(total.real.dtype if dtype.is_complex else wide(dtype)) - less).clamp(min=0)
    return (total / count).to(dtype)


def std(input, dim=None, unbiased=None, *, correction=None, keepdim=False, dtype=None, mask=None):
    return torch.sqrt(var(input, dim, unbiased, correction=correction, keepdim=keepdim, dtype=dtype, mask=mask))


def _normalizing(name, rest):
    def function(input, dim, *, dtype=None, mask=None):
        shown = _shown(rest, input, mask)
        return getattr(torch.nn.functional, name)(shown, _canonical_dim(dim, input.dim())[0], dtype=dtype or input.dtype)
    return function


softmax, log_softmax, softmin = _normalizing("softmax", "amax"), _normalizing("log_softmax", "amax"), _normalizing("softmin", "amin")


def normalize(input, ord, dim, *, eps=1e-12, dtype=None, mask=None):
    size = norm(input, ord, dim, keepdim=True, dtype=dtype, mask=mask)
    return _shown("sum", input, mask) / size.clamp(min=eps)


for _name in __all__:
    globals()[_name].__name__ = globals()[_name].__qualname__ = _name

__getattr__ = _missing.names("torch.masked", globals())
