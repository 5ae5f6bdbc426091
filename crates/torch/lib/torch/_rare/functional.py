"""Functions of `torch.nn.functional` that few scripts call: bags of embeddings, pooling by norms and backwards, distances of pairs."""

from torch import _C
from torch.nn import functional as F
import math
import warnings

_ops = _C._ops


def embedding_bag(input, weight, offsets=None, max_norm=None, norm_type=2, scale_grad_by_freq=False, mode="mean", sparse=False,
                  per_sample_weights=None, include_last_offset=False, padding_idx=None):
    if weight.dtype == _C.int64 and input.dtype.is_floating_point:
        warnings.warn("Argument order of nn.functional.embedding_bag was changed. Usage `embedding_bag(weight, input, ...)` is deprecated, "
                      "and should now be `embedding_bag(input, weight, ...)`.", stacklevel=2)
        weight, input = input, weight
    if weight.dim() != 2:
        raise ValueError(f"weight has to be a 2D Tensor, but got Tensor of dimension {weight.dim()}")
    if per_sample_weights is not None:
        if input.shape != per_sample_weights.shape:
            raise ValueError(f"embedding_bag: If per_sample_weights ({per_sample_weights.shape}) is not None, then it must have the same shape "
                             f"as the input ({input.shape})")
        if mode != "sum":
            raise NotImplementedError("embedding_bag: per_sample_weights was not None. per_sample_weights is only supported for mode='sum' "
                                      f"(got mode='{mode}'). Please open a feature request on GitHub.")
        if per_sample_weights.dtype != weight.dtype:
            raise RuntimeError("Expected tensor for argument #1 'weight' to have the same type as tensor for argument #1 'per_sample_weights'; "
                               f"but type {weight.type()} does not equal {per_sample_weights.type()} (while checking arguments for "
                               "embedding_bag)")
    if mode not in ("sum", "mean", "max"):
        raise ValueError("mode has to be one of sum, mean or max")
    flat, n, count = input.reshape(-1), weight.shape[0], input.shape[0]
    if input.dim() == 2:
        if offsets is not None:
            raise ValueError("if input is 2D, then offsets has to be None, as input is treated is a mini-batch of fixed length sequences. "
                             f"However, found offsets of type {type(offsets)}")
    elif input.dim() != 1:
        raise ValueError(f"input has to be 1D or 2D Tensor, but got Tensor of dimension {input.dim()}")
    elif offsets is None or offsets.dim() != 1:
        raise ValueError("offsets has to be a 1D Tensor" + (" but got None" if offsets is None else ""))
    if max_norm is not None:
        F.embedding(flat, weight, max_norm=max_norm, norm_type=norm_type)
    if padding_idx is not None:
        if not -n <= padding_idx < n:
            raise RuntimeError(f"padding_idx must be within the number of embeddings, -{n} through {n - 1}, but got {padding_idx}")
        padding_idx %= n
    wrong = _C.outside(flat, 0, n)
    if wrong:
        raise RuntimeError("Expected idx >= 0 && idx < num_embeddings to be true, but got false." if padding_idx is not None else
                           f"Index {wrong[0]} of input takes value {wrong[1]} which is not in the valid range [0, {n})")
    rows = F._rows(weight, flat, None, scale_grad_by_freq)
    if per_sample_weights is not None:
        rows = rows * per_sample_weights.reshape(-1, 1)
    starts = None if offsets is None else offsets.tolist()[:-1 if include_last_offset else None]
    if starts and (starts[0] != 0 or starts[-1] > count):
        raise RuntimeError("offsets[0] has to be 0, i.e., the first sequence in the mini-batch has to start from position 0. However, got "
                           f"{starts[0]}" if starts[0] != 0 else
                           f"offsets[-1] can not be greater than input's length {count} but got offsets[-1] of {starts[-1]}")
    return _bags(rows, input, starts, mode, None if padding_idx is None else flat == padding_idx)


def _bags(rows, input, starts, mode, pads):
    """Sums, means or extremes of rows, of as many for each bag as `input` has columns, or from `starts` on; without those of the padding."""
    ends = None if starts is None else starts[1:] + [input.shape[0]]

    def total(x):
        if starts is None:
            return x.reshape(list(input.shape) + [-1]).sum(1)
        bags = [i for i, (start, end) in enumerate(zip(starts, ends)) for _ in range(start, end)]
        return _C.full((len(starts), x.shape[1]), 0.0, x.dtype).index_add(0, _C.tensor(bags, _C.int64), x)
    if pads is not None:
        rows = rows.masked_fill(pads.unsqueeze(1), float("-inf") if mode == "max" else 0.0)
    if mode == "sum":
        return total(rows)
    kept = total((_C.full(rows.shape[:1], 1.0) if pads is None else 1.0 - pads.float()).unsqueeze(1))
    if mode == "mean":
        return total(rows) / kept.clamp(min=1.0).to(rows.dtype)
    bags = rows.reshape(list(input.shape) + [-1]) if starts is None else [rows[start:end] for start, end in zip(starts, ends)]
    made = _ops["stack"]([bag.max(0)[0] if bag.shape[0] else bag.sum(0) for bag in bags])
    return made if pads is None else made.masked_fill(kept == 0, 0.0)


def local_response_norm(input, size, alpha=1e-4, beta=0.75, k=1.0):
    """Krizhevsky, Sutskever and Hinton, 2012; the window's mean, not its sum, as in PyTorch."""
    if input.dim() < 3:
        raise ValueError(f"Expected 3D or higher dimensionality                          input (got {input.dim()} dimensions)")
    if not input.numel():
        return input
    squares = input.square().unsqueeze(1).flatten(3) if input.dim() > 3 else input.square().unsqueeze(1)
    squares = _ops["pad"](squares, [0, 0, size // 2, (size - 1) // 2])
    mean = _ops["avg_pool2d"](squares, (size, 1), 1).reshape(input.shape)
    return input / (mean * alpha + k) ** beta


def channel_shuffle(input, groups):
    if input.dim() < 3:
        raise RuntimeError(f"channel_shuffle expects input with > 2 dims, but got input with sizes {list(input.shape)}")
    n, c = input.shape[:2]
    if groups <= 0 or c % groups:
        raise RuntimeError(f"Number of channels must be divisible by groups. Got {c} channels and {groups} groups." if groups > 0
                           else f"Number of groups to divide channels in must be positive. Value of groups:{groups}")
    return input.reshape([n, groups, c // groups] + list(input.shape[2:])).transpose(1, 2).reshape(input.shape)


def _lp_pool(pool, input, norm_type, kernel_size, stride, ceil_mode, dims):
    sizes = [kernel_size] * dims if isinstance(kernel_size, int) else list(kernel_size)
    n = math.prod(sizes)
    stride = kernel_size if stride is None else stride
    mean = _ops[pool](input ** norm_type, sizes, [stride] * dims if isinstance(stride, int) else stride, 0, ceil_mode=ceil_mode)
    return (_ops["sign"](mean) * _ops["relu"](mean.abs()) * n) ** (1.0 / norm_type)


def lp_pool1d(input, norm_type, kernel_size, stride=None, ceil_mode=False):
    return _lp_pool("avg_pool1d", input, norm_type, kernel_size, stride, ceil_mode, 1)


def lp_pool2d(input, norm_type, kernel_size, stride=None, ceil_mode=False):
    return _lp_pool("avg_pool2d", input, norm_type, kernel_size, stride, ceil_mode, 2)


def lp_pool3d(input, norm_type, kernel_size, stride=None, ceil_mode=False):
    return _lp_pool("avg_pool3d", input, norm_type, kernel_size, stride, ceil_mode, 3)


def _max_unpool(rank):
    def max_unpool(input, indices, kernel_size, stride=None, padding=0, output_size=None):
        per = [(v,) * rank if isinstance(v, int) else tuple(v) for v in (kernel_size, kernel_size if stride is None else stride, padding)]
        sizes = usual = [(n - 1) * s + k - 2 * p for n, k, s, p in zip(input.shape[-rank:], *per)]
        if output_size is not None:
            if len(output_size) not in (rank, rank + 2):
                raise ValueError(f"output_size should be a sequence containing {rank} or {rank + 2} elements, but it has a length of "
                                 f"'{len(output_size)}'")
            sizes = list(output_size)[-rank:]
            for d, (size, least, s) in enumerate(zip(sizes, usual, per[1])):
                if not least - s < size < least + s:
                    raise ValueError(f'invalid output_size "{output_size}" (dim {d} must be between {least - s} and {least + s})')
        # One dimension is unpooled as two.
        wide = 3 if rank == 3 else 2
        if input.dim() + (rank == 1) not in (wide + 1, wide + 2):
            raise RuntimeError(f"Input to max_unpooling{wide}d should be a {wide + 1}d or {wide + 2}d Tensor, but got a tensor with "
                               f"{input.dim() + (rank == 1)} dimensions.")
        if rank == 3 and not all([s > 0 for s in per[1]]):
            raise RuntimeError(f"strides should be greater than zero, but got stride: {list(per[1])}")
        if indices.dtype != _C.int64:
            raise RuntimeError(f"elements in indices should be type int64 but got: {indices.type().split('.')[-1][:-6]}")
        if indices.shape != input.shape:
            raise RuntimeError("Expected shape of indices to be same as that of the input tensor "
                               f"({list(input.shape)}) but got indices tensor with shape: {list(indices.shape)}")
        lead = list(input.shape[:-rank])
        flat = _C.full(lead + [math.prod(sizes)], 0.0, input.dtype)
        wrong = _C.outside(indices, 0, math.prod(sizes))
        if wrong:
            volume = "x".join(map(str, (sizes + [1])[:max(rank, 2)]))
            raise RuntimeError(f"Found an invalid max index: {wrong[1]} (output volumes are of size {volume})")
        return flat.scatter(-1, indices.flatten(-rank), input.flatten(-rank)).reshape(lead + sizes)
    return max_unpool


max_unpool1d, max_unpool2d, max_unpool3d = _max_unpool(1), _max_unpool(2), _max_unpool(3)


def pdist(input, p=2.0):
    n = input.shape[0]
    pairs = [(i, j) for i in range(n) for j in range(i + 1, n)]
    a, b = [_C.tensor([pair[k] for pair in pairs], _C.int64) for k in (0, 1)]
    return _ops["norm"](input.index_select(0, a) - input.index_select(0, b), p, 1)
