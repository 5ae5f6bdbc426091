"""Histograms of numbers, and of points of several dimensions."""

from bisect import bisect_right
import torch
from torch._functions import _named


def histogram(input, bins, *, range=None, weight=None, density=False):
    values = input.detach().reshape(-1).tolist()
    edges = bins if isinstance(bins, torch.Tensor) else _edges(bins, 0, [[v] for v in values], range).to(input.dtype)
    at = edges.tolist()
    counts = [0.0] * (len(at) - 1)
    weights = [1.0] * len(values) if weight is None else weight.detach().reshape(-1).tolist()
    for v, w in zip(values, weights):
        if at[0] <= v <= at[-1]:
            counts[min(bisect_right(at, v) - 1, len(counts) - 1)] += w
    made = torch.tensor(counts, dtype=input.dtype)
    if density:
        made = made / made.sum() / edges.diff()
    return _named("histogram", ("hist", "bin_edges"))((made, edges))


def histogramdd(input, bins, range=None, weight=None, density=False):
    if input.dim() < 2:
        raise RuntimeError("torch.histogramdd: input tensor should have at least 2 dimensions")
    rank = input.shape[-1]
    bins = [bins] * rank if isinstance(bins, int) else list(bins)
    if len(bins) != rank:
        raise RuntimeError(f"torch.histogramdd: expected {rank} sequences of bin edges for a {rank}-dimensional histogram but got {len(bins)}"
                           if isinstance(bins[0], torch.Tensor) else
                           "torch.histogramdd: The size of bins must be equal to the innermost dimension of the input.")
    points = input.detach().reshape(-1, rank).tolist()
    weights = [1.0] * len(points) if weight is None else weight.detach().reshape(-1).tolist()
    if len(weights) != len(points):
        raise RuntimeError(f"torch.histogramdd: if weight tensor is provided it should have the same shape as the input tensor excluding "
                           f"its innermost dimension, but got input with shape {list(input.shape)} and weight with shape {list(weight.shape)}")
    edges = [b if isinstance(b, torch.Tensor) else _edges(b, d, points, range).to(input.dtype) for d, b in enumerate(bins)]
    marks = [e.tolist() for e in edges]
    shape = [len(m) - 1 for m in marks]
    counts = [0.0] * torch.Size(shape).numel()
    for point, w in zip(points, weights):
        at = 0
        for v, m in zip(point, marks):
            if not m[0] <= v <= m[-1]:
                break
            at = at * (len(m) - 1) + min(bisect_right(m, v) - 1, len(m) - 2)
        else:
            counts[at] += w
    made = torch.tensor(counts, dtype=input.dtype).reshape(shape)
    if density:
        made = made / made.sum()
        for d, e in enumerate(edges):
            made = made / e.diff().reshape([-1 if i == d else 1 for i, _ in enumerate(shape)])
    return _named("histogramdd", ("hist", "bin_edges"))((made, tuple(edges)))


def _edges(count, d, points, given):
    if given is None:
        values = [p[d] for p in points] or [0.0, 1.0]
        low, high = min(values), max(values)
    else:
        low, high = given[2 * d:2 * d + 2]
    low, high = (low - 0.5, high + 0.5) if low == high else (low, high)
    return torch.tensor([low + (high - low) * i / count for i, _ in enumerate([0] * (count + 1))])
