"""torch.signal, whose one module is `windows`: windows that are symmetric unless asked otherwise."""

import sys
import torch

windows = sys.modules[__name__]


def _window(M, sym, made, dtype=None, layout=None, device=None, requires_grad=False):
    """`made(k, d)` of `M` places, of which the last is at `d`."""
    if M < 0:
        raise ValueError(f"requires non-negative window length, got M={M}")
    if M <= 1:
        return torch.ones(M, dtype=dtype, requires_grad=requires_grad)
    out = made(torch.arange(M, dtype=dtype or torch.get_default_dtype()), M - 1 if sym else M)
    return out.requires_grad_() if requires_grad else out


def general_cosine(M, *, a, sym=True, **kwargs):
    def made(k, d):
        return sum((-1) ** i * w * torch.cos(2 * torch.pi * i * k / d) for i, w in enumerate(a))
    return _window(M, sym, made, **kwargs)


def general_hamming(M, *, alpha=0.54, **kwargs):
    return general_cosine(M, a=[alpha, 1.0 - alpha], **kwargs)


def hamming(M, **kwargs):
    return general_hamming(M, **kwargs)


def hann(M, **kwargs):
    return general_hamming(M, alpha=0.5, **kwargs)


def blackman(M, **kwargs):
    return general_cosine(M, a=[0.42, 0.5, 0.08], **kwargs)


def nuttall(M, **kwargs):
    return general_cosine(M, a=[0.3635819, 0.4891775, 0.1365995, 0.0106411], **kwargs)


def bartlett(M, *, sym=True, **kwargs):
    return _window(M, sym, lambda k, d: 1 - (2 * k / d - 1).abs(), **kwargs)


def cosine(M, *, sym=True, **kwargs):
    return _window(M, sym, lambda k, d: torch.sin(torch.pi * (k + 0.5) / (d + 1)), **kwargs)


def gaussian(M, *, std=1.0, sym=True, **kwargs):
    return _window(M, sym, lambda k, d: torch.exp(-((k - d / 2) / std) ** 2 / 2), **kwargs)


def exponential(M, *, center=None, tau=1.0, sym=True, **kwargs):
    return _window(M, sym, lambda k, d: torch.exp(-(k - (d / 2 if center is None else center)).abs() / tau), **kwargs)


def kaiser(M, *, beta=12.0, sym=True, **kwargs):
    def made(k, d):
        return torch.i0(beta * torch.sqrt((1 - (2 * k / d - 1) ** 2).clamp(min=0))) / torch.i0(torch.tensor(float(beta)))
    return _window(M, sym, made, **kwargs)
