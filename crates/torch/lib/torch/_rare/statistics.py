"""Covariances, slopes between samples, and numbers taken apart."""

import math
import torch
from torch import _C
from torch._functions import _named
from torch._inplace import _want
from torch.autograd import Function


def _real(x):
    return x if x.dtype.is_floating_point or x.dtype.is_complex else x.to(_C.get_default_dtype())


def _checked_weights(name, w, x):
    """Weights of observations as PyTorch takes them: integers that count, or floats that weigh."""
    counts = name == "fweights"
    real = w.dtype.is_floating_point
    _want(w.dim() <= 1, f"cov(): expected {name} to have one or fewer dimensions but got {name} with {w.dim()} dimensions")
    _want(real != counts and not w.dtype.is_complex and w.dtype != torch.bool,
          f"cov(): expected {name} to have {'integral' if counts else 'floating point'} dtype but got {name} with {w.type()[6:-6]} dtype")
    n = x.shape[1]
    _want(w.numel() == n,
          f"cov(): expected {name} to have the same numel as there are observations in the input but got {w.numel()} != {n}")
    _want(not w.numel() or w.min().item() >= 0, f"cov(): {name} cannot be negative")


def cov(input, *, correction=1, fweights=None, aweights=None):
    _want(input.dim() <= 2, f"cov(): expected input to have two or fewer dimensions but got an input with {input.dim()} dimensions")
    _want(input.dtype != torch.bool, "cov(): bool dtype is not supported for input")
    x = _real(input.reshape(1, -1) if input.dim() < 2 else input)
    weights = None
    for name, w in (("fweights", fweights), ("aweights", aweights)):
        if w is not None:
            _checked_weights(name, w, x)
            weights = w if weights is None else weights * w
    if weights is None:
        apart, left = x - x.mean(1, keepdim=True), max(x.shape[1] - correction, 0)
        return (apart @ apart.mH / torch.tensor(left)).squeeze()
    total = weights.sum()
    apart = x - (x * weights).sum(1, keepdim=True) / total
    left = total - correction if aweights is None else total - correction * (weights * aweights).sum() / total
    return ((apart * weights) @ apart.mH / left.clamp(min=0)).squeeze()


def corrcoef(input):
    made = cov(input)
    if made.dim() == 0:
        return made / made
    d = made.diagonal().sqrt()
    made = made / d.unsqueeze(1) / d.unsqueeze(0)
    return _C.complexed(_C.pairs(made).clamp(-1, 1)) if made.dtype.is_complex else made.clamp(-1, 1)


def gradient(input, *, spacing=1.0, dim=None, edge_order=1):
    dims = list(range(input.dim())) if dim is None else [dim] if isinstance(dim, int) else list(dim)
    many = isinstance(spacing, (list, tuple))
    _want(not many or len(spacing) == len(dims),
          "torch.gradient expected spacing to be unspecified, a scalar or it's spacing and dim arguments to have the same length, but got a "
          f"spacing argument of length {len(spacing) if many else 1} and a dim argument of length {len(dims)}.")
    _want(edge_order in (1, 2), "torch.gradient only supports edge_order=1 and edge_order=2.")
    whole = [d + input.dim() if d < 0 else d for d in dims]
    for d, at in zip(dims, whole):
        if not 0 <= at < input.dim():
            raise IndexError(f"Dimension out of range (expected to be in range of [{-input.dim()}, {input.dim() - 1}], but got {d})")
        _want(whole.count(at) == 1, f"dim {at} appears multiple times in the list of dims")
        _want(input.shape[at] >= edge_order + 1, "torch.gradient expected each dimension size to be at least edge_order+1")
    out = []
    for i, d in enumerate(dims):
        x = input.movedim(d, 0)
        step = spacing[i] if many else 1.0 if spacing is None else spacing
        one = [1] * (x.dim() - 1)
        if isinstance(step, torch.Tensor) and step.dim() == 1:
            h = step.diff()
        else:
            h = torch.full((x.shape[0] - 1,), float(step), dtype=x.dtype if x.dtype.is_floating_point else None)
        h = h.reshape([-1] + one)
        left, right, slopes = h[:-1], h[1:], x.diff(dim=0) / h
        inner = (slopes[:-1] * right + slopes[1:] * left) / (left + right)
        if edge_order == 2:
            first = slopes[:1] * (2 * h[:1] + h[1:2]) / (h[:1] + h[1:2]) - slopes[1:2] * h[:1] / (h[:1] + h[1:2])
            last = slopes[-1:] * (2 * h[-1:] + h[-2:-1]) / (h[-1:] + h[-2:-1]) - slopes[-2:-1] * h[-1:] / (h[-1:] + h[-2:-1])
        else:
            first, last = slopes[:1], slopes[-1:]
        out.append(torch.cat([first, inner, last]).movedim(0, d))
    return tuple(out)


def _taken_apart(input):
    pairs = [math.frexp(v) if math.isfinite(v) else (v, 0) for v in _C.values(input)]
    mantissa = torch.tensor([m for m, _ in pairs], dtype=input.dtype).reshape(input.shape)
    return mantissa, torch.tensor([e for _, e in pairs], dtype=torch.int32).reshape(input.shape)


class _Frexp(Function):
    @staticmethod
    def forward(ctx, input):
        mantissa, exponent = _taken_apart(input.detach())
        ctx.mark_non_differentiable(exponent)
        ctx.exponent = exponent
        return mantissa, exponent

    @staticmethod
    def backward(ctx, g, _):
        return g / 2.0 ** ctx.exponent


def frexp(input):
    """`input = mantissa * 2 ** exponent` with mantissas in [0.5, 1)."""
    made = _Frexp.apply(input) if input.requires_grad and torch.is_grad_enabled() else _taken_apart(input)
    return _named("frexp", ("mantissa", "exponent"))(made)
