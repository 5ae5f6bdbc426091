"""torch.signal, whose one module is `windows`: windows that are symmetric unless asked otherwise."""

import sys
import torch

windows = sys.modules[__name__]


def _window(name, M, sym, made, dtype=None, layout=torch.strided, device=None, requires_grad=False):
    """`made(k, d)` of `M` places, of which the last is at `d`."""
    if M < 0:
        raise ValueError(f"{name} requires non-negative window length, got M={M}")
    if layout is not torch.strided:
        raise ValueError(f"{name} is implemented for strided tensors only, got: {layout}")
    if dtype not in (None, torch.float32, torch.float64):
        raise ValueError(f"{name} expects float32 or float64 dtypes, got: {dtype}")
    if M <= 1:
        return torch.ones(M, dtype=dtype, requires_grad=requires_grad)
    out = made(torch.arange(M, dtype=dtype or torch.get_default_dtype()), M - 1 if sym else M)
    return out.requires_grad_() if requires_grad else out


def general_cosine(M, *, a, sym=True, **kwargs):
    if not isinstance(a, (list, tuple)):
        raise TypeError("Coefficients must be a list/tuple")
    if not a:
        raise ValueError("Coefficients cannot be empty")

    def made(k, d):
        return sum((-1) ** i * w * torch.cos(2 * torch.pi * i * k / d) for i, w in enumerate(a))
    return _window("general_cosine", M, sym, made, **kwargs)


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
    return _window("bartlett", M, sym, lambda k, d: 1 - (2 * k / d - 1).abs(), **kwargs)


def cosine(M, *, sym=True, **kwargs):
    return _window("cosine", M, sym, lambda k, d: torch.sin(torch.pi * (k + 0.5) / (d + 1)), **kwargs)


def gaussian(M, *, std=1.0, sym=True, **kwargs):
    if std <= 0:
        raise ValueError(f"Standard deviation must be positive, got: {std} instead.")
    return _window("gaussian", M, sym, lambda k, d: torch.exp(-((k - d / 2) / std) ** 2 / 2), **kwargs)


def exponential(M, *, center=None, tau=1.0, sym=True, **kwargs):
    if tau <= 0:
        raise ValueError(f"Tau must be positive, got: {tau} instead.")
    if sym and center is not None:
        raise ValueError("Center must be None for symmetric windows")
    return _window("exponential", M, sym, lambda k, d: torch.exp(-(k - (d / 2 if center is None else center)).abs() / tau), **kwargs)


def kaiser(M, *, beta=12.0, sym=True, **kwargs):
    if beta < 0:
        raise ValueError(f"beta must be non-negative, got: {beta} instead.")

    def made(k, d):
        return torch.i0(beta * torch.sqrt((1 - (2 * k / d - 1) ** 2).clamp(min=0))) / torch.i0(torch.tensor(float(beta)))
    return _window("kaiser", M, sym, made, **kwargs)
