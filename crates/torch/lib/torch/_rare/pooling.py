"""Pooling over windows that are placed at random (Graham, 2014)."""

import itertools
import math
import torch
from torch.nn.modules.module import Module


def _starts(sample, size, out, window):
    """Where the windows of a dimension begin."""
    alpha = (size - window) / (out - 1) if out > 1 else 0.0
    return [int((i + sample) * alpha) - int(sample * alpha) for i in range(out - 1)] + [size - window]


def _wide(n, rank):
    return (n,) * rank if isinstance(n, (int, float)) else tuple(n)


def _pool(rank, input, kernel_size, output_size, output_ratio, return_indices, _random_samples):
    name = f"fractional_max_pool{rank}d"
    if output_size is None and output_ratio is None:
        raise ValueError(f"{name} requires specifying either an output_size or an output_ratio")
    if input.dim() not in (rank + 1, rank + 2):
        raise RuntimeError(f"{name}: Expected {rank + 1}D or {rank + 2}D tensor, but got {list(input.shape)}")
    sizes, window = input.shape[-rank:], _wide(kernel_size, rank)
    out = _wide(output_size, rank) if output_size is not None else [int(n * r) for n, r in zip(sizes, _wide(output_ratio, rank))]
    x = input if input.dim() == rank + 2 else input.unsqueeze(0)
    samples = torch.rand(*x.shape[:2], rank, dtype=input.dtype) if _random_samples is None else _random_samples
    if samples.dtype != input.dtype:
        raise RuntimeError("Expect _random_samples to have the same dtype as input")
    for of, n, o, k in zip(("time", "height", "width")[-rank:], sizes, out, window):
        if o + k - 1 > n:
            raise RuntimeError(f"{name}(): pool {of} {k} too large relative to input {of} {n}")
    # Of two dimensions the first sample is the width's.
    order = (1, 0) if rank == 2 else (0, 1, 2)
    steps = [1]
    for n in reversed(sizes[1:]):
        steps.insert(0, steps[0] * n)
    within = [sum([i * s for i, s in zip(at, steps)]) for at in itertools.product(*[range(k) for k in window])]
    places = []
    for plane in samples.flatten(0, 1)[:x.shape[0] * x.shape[1]].tolist():
        starts = [[i * s for i in _starts(plane[order[d]], sizes[d], out[d], window[d])] for d, s in enumerate(steps)]
        places += [sum(at) + w for at in itertools.product(*starts) for w in within]
    lead = list(x.shape[:2])
    count = math.prod(out)
    places = torch.tensor(places, dtype=torch.int64).reshape(lead + [count * len(within)])
    picked, at = x.reshape(lead + [math.prod(sizes)]).gather(-1, places).reshape(lead + [count, len(within)]).max(-1)
    shape = list(input.shape[:-rank]) + list(out)
    if not return_indices:
        return picked.reshape(shape)
    found = places.reshape(lead + [count, len(within)]).gather(-1, at.unsqueeze(-1))
    return picked.reshape(shape), found.reshape(shape)


def _function(rank):
    def function(input, kernel_size, output_size=None, output_ratio=None, return_indices=False, _random_samples=None):
        return _pool(rank, input, kernel_size, output_size, output_ratio, return_indices, _random_samples)

    def with_indices(input, kernel_size, output_size=None, output_ratio=None, return_indices=False, _random_samples=None):
        return _pool(rank, input, kernel_size, output_size, output_ratio, True, _random_samples)
    function.__name__, with_indices.__name__ = f"fractional_max_pool{rank}d", f"fractional_max_pool{rank}d_with_indices"
    return function, with_indices


fractional_max_pool2d, fractional_max_pool2d_with_indices = _function(2)
fractional_max_pool3d, fractional_max_pool3d_with_indices = _function(3)


class _FractionalMaxPool(Module):
    def __init__(self, kernel_size, output_size=None, output_ratio=None, return_indices=False, _random_samples=None):
        super().__init__()
        name, rank = type(self).__name__, self._rank
        self.kernel_size, self.return_indices = _wide(kernel_size, rank), return_indices
        self.register_buffer("_random_samples", _random_samples)
        self.output_size = None if output_size is None else _wide(output_size, rank)
        self.output_ratio = None if output_ratio is None else _wide(output_ratio, rank)
        if output_size is None and output_ratio is None:
            raise ValueError(f"{name} requires specifying either an output size, or a pooling ratio")
        if output_size is not None and output_ratio is not None:
            raise ValueError("only one of output_size and output_ratio may be specified")
        if output_ratio is not None and not all([0 < r < 1 for r in self.output_ratio]):
            raise ValueError(f"output_ratio must be between 0 and 1 (got {output_ratio})")

    def forward(self, input):
        return _pool(self._rank, input, self.kernel_size, self.output_size, self.output_ratio, self.return_indices, self._random_samples)


class FractionalMaxPool2d(_FractionalMaxPool):
    _rank = 2


class FractionalMaxPool3d(_FractionalMaxPool):
    _rank = 3


for _class in (FractionalMaxPool2d, FractionalMaxPool3d):
    _class.__module__ = "torch.nn.modules.pooling"
