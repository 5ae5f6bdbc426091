"""Bags of embeddings."""

from torch import _C
from torch.nn import functional as F
import warnings

_ops = _C._ops


def embedding_bag(input, weight, offsets=None, max_norm=None, norm_type=2, scale_grad_by_freq=False, mode="mean", sparse=False,
                  per_sample_weights=None, include_last_offset=False, padding_idx=None):
    if weight.dtype == _C.int64 and input.dtype.is_floating_point:
        warnings.warn("Argument order of nn.functional.embedding_bag was changed. Usage `embedding_bag(weight, input, ...)` is deprecated, "
                      "and should now be `embedding_bag(input, weight, ...)`.", stacklevel=2)
        weight, input = input, weight
    if max_norm is not None:
        F.embedding(input, weight, max_norm=max_norm, norm_type=norm_type)
    if padding_idx is not None:
        return _padded_bags(input, weight, offsets, mode, per_sample_weights, include_last_offset, padding_idx % weight.shape[0],
                            scale_grad_by_freq)
    if mode not in ("sum", "mean", "max"):
        raise ValueError("mode has to be one of sum, mean or max")
    if input.dim() == 2 and offsets is not None:
        raise ValueError("if input is 2D, then offsets has to be None, as input is treated is a mini-batch of fixed length sequences. "
                         f"However, found offsets of type {type(offsets)}")
    if input.dim() == 1 and (offsets is None or offsets.dim() != 1):
        raise ValueError(f"offsets has to be a 1D Tensor{' but got None' if offsets is None else ''}")
    if per_sample_weights is not None and mode != "sum":
        raise NotImplementedError("embedding_bag: per_sample_weights was not None. per_sample_weights is only supported for mode='sum' "
                                  f"(got mode='{mode}'). Please open a feature request on GitHub.")
    wrong = _C.outside(input, 0, weight.shape[0])
    if wrong:
        raise RuntimeError(f"Index {wrong[0]} of input takes value {wrong[1]} which is not in the valid range [0, {weight.shape[0]})")
    rows = F.embedding(input, weight, scale_grad_by_freq=scale_grad_by_freq)
    if per_sample_weights is not None:
        rows = rows * per_sample_weights.unsqueeze(-1)
    if input.dim() == 2:
        return rows.sum(1) if mode == "sum" else rows.mean(1) if mode == "mean" else rows.amax(1)
    starts = offsets.tolist()
    if starts[:1] not in ([], [0]):
        raise RuntimeError("offsets[0] has to be 0, i.e., the first sequence in the mini-batch has to start from position 0. However, got "
                           f"{starts[0]}")
    ends = starts[1:] + ([] if include_last_offset else [input.shape[0]])
    bags = []
    for start, end in zip(starts, ends):
        bag = rows[start:end]
        if start == end:
            bags.append(_C.full((weight.shape[1],), 0.0, weight.dtype))
        else:
            bags.append(bag.sum(0) if mode == "sum" else bag.mean(0) if mode == "mean" else bag.amax(0))
    return _ops["stack"](bags)


def _padded_bags(input, weight, offsets, mode, per_sample_weights, include_last_offset, padding_idx, scale_grad_by_freq):
    """Bags without the rows of the padding."""
    if input.dim() == 2:
        offsets = _C.arange(0, input.numel(), input.shape[1], _C.int64)
        input, include_last_offset = input.reshape(-1), False
        per_sample_weights = None if per_sample_weights is None else per_sample_weights.reshape(-1)
    values, starts = input.tolist(), offsets.tolist()
    kept, fresh, at = [], [], 0
    for i, v in enumerate(values):
        while at < len(starts) and starts[at] == i:
            fresh.append(len(kept))
            at += 1
        if v != padding_idx:
            kept.append(i)
    fresh += [len(kept)] * (len(starts) - at)
    index = _C.tensor(kept, _C.int64)
    weights = None if per_sample_weights is None else per_sample_weights.index_select(0, index)
    return embedding_bag(input.index_select(0, index), weight, _C.tensor(fresh, _C.int64), mode=mode, per_sample_weights=weights,
                         include_last_offset=include_last_offset, scale_grad_by_freq=scale_grad_by_freq)
