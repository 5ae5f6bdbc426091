"""Functions of torch that PyTorch's own code calls, and tests of it: most names begin with an underscore."""

import torch
from torch.autograd import Function


def _wide(x):
    return x.float() if x.dtype in (torch.bfloat16, torch.float16) else x


def _chunk_cat(tensors, dim, num_chunks, *, out=None):
    """Each tensor in as many chunks, the last one filled with zeros; beside each other what comes of each chunk."""
    if not tensors:
        raise RuntimeError("_chunk_cat expects a non-empty input tensor list")
    if num_chunks < 1:
        raise RuntimeError("_chunk_cat expects positive num_chunks")
    dim %= tensors[0].dim()
    parts = []
    for t in tensors:
        more = -t.shape[dim] % num_chunks
        t = torch.nn.functional.pad(t, [0] * (2 * (t.dim() - dim - 1)) + [0, more]) if more else t
        parts.append(t.reshape(*t.shape[:dim], num_chunks, -1))
    return torch.cat(parts, dim + 1)


def _native_batch_norm_legit(input, weight, bias, *rest):
    """With the running statistics, or without them; beside the result the batch's mean and the inverse of its deviation."""
    mean, var = rest[:2] if len(rest) == 5 else (None, None)
    training, momentum, eps = rest[-3:]
    made = torch.nn.functional.batch_norm(input, mean, var, weight, bias, training, momentum, eps)
    if not training:
        return made, input.new_zeros(0), input.new_zeros(0)
    over, input = [d for d in range(input.dim()) if d != 1], input.detach()
    x = _wide(input)
    spread = torch.rsqrt(x.var(over, correction=0) + eps)
    return made, x.mean(over).to(input.dtype), spread.to(input.dtype)


def _softmax_backward_data(grad_output, output, dim, input_dtype):
    # Rounded once, where it ends.
    grad_output, output = _wide(grad_output), _wide(output)
    g = grad_output * output
    return (g - output * g.sum(dim, keepdim=True)).to(input_dtype)


def _log_softmax_backward_data(grad_output, output, dim, input_dtype):
    grad_output, output = _wide(grad_output), _wide(output)
    return (grad_output - output.exp() * grad_output.sum(dim, keepdim=True)).to(input_dtype)


def _within(input, indices, low):
    return tuple([slice(None) if i is None else i.clamp(-n if low else 0, n - 1) for i, n in zip(indices, input.shape)])


def _unsafe_masked_index(input, mask, indices, fill):
    if not input.numel():
        return input.new_full(torch.broadcast_shapes(mask.shape, *[i.shape for i in indices if i is not None]), fill)
    return input[_within(input, indices, False)].masked_fill(~mask, fill)


def _unsafe_masked_index_put_accumulate(input, mask, indices, values):
    if not input.numel():
        return input.clone()
    return input.index_put(_within(input, indices, True), values.masked_fill(~mask, 0), True)


def _grid_sampler(rank):
    def function(input, grid, interpolation_mode, padding_mode, align_corners):
        if input.dim() != rank or grid.dim() != rank:
            raise RuntimeError(f"grid_sampler_{rank - 2}d(): expected {rank}D input and grid with same number of dimensions, but got input "
                               f"with sizes {list(input.shape)} and grid with sizes {list(grid.shape)}")
        mode, padding = ("bilinear", "nearest", "bicubic")[interpolation_mode], ("zeros", "border", "reflection")[padding_mode]
        return torch.nn.functional.grid_sample(input, grid, mode, padding, align_corners)
    return function


grid_sampler_2d, grid_sampler_3d = _grid_sampler(4), _grid_sampler(5)

_STARTS = {"max": -torch.inf, "min": torch.inf, "sum": 0.0, "mean": 0.0, "prod": 1.0}


def _segment(part, reduce, axis, initial):
    """One segment's value, which begins with `initial`."""
    start = _STARTS[reduce] if initial is None else initial
    n = part.shape[axis]
    if reduce in ("sum", "mean"):
        if not n:
            return part.sum(axis) + (torch.nan if initial is None and reduce == "mean" else start)
        made = part.sum(axis) + start
        return made / n if reduce == "mean" else made
    if reduce == "prod":
        return part.prod(axis) * start
    if not n:
        return part.sum(axis) + start
    made = part.amax(axis) if reduce == "max" else part.amin(axis)
    given = torch.full((), start, dtype=part.dtype)
    return torch.where(given > made if reduce == "max" else given < made, given, made)


def _segment_reduce(data, reduce, *, lengths=None, indices=None, offsets=None, axis=0, unsafe=False, initial=None):
    if reduce not in _STARTS:
        raise RuntimeError(f"Unsupported reduction given! {reduce}")
    if lengths is None and offsets is None:
        raise RuntimeError("segment_reduce(): Either lengths or offsets must be defined.")
    if indices is not None:
        raise RuntimeError("segment_reduce(): indices based reduction is not supported yet.")
    axis %= data.dim()
    given = offsets if lengths is None else lengths
    if given.dim() - 1 != axis:
        raise RuntimeError(f"segment_reduce(): Expected axis to be the last dimension of {'offsets' if lengths is None else 'lengths'} but got "
                           f"{axis}.")
    lead, rest = list(data.shape[:axis]), list(data.shape[axis + 1:])
    rows, made = data.reshape([-1] + list(data.shape[axis:])) if data.numel() else None, []
    for i, row in enumerate(given.reshape(-1, given.shape[-1]).tolist()):
        ends = row
        if lengths is not None:
            ends = [0]
            for n in row:
                if n < 0:
                    raise RuntimeError("lengths contains negative value!")
                ends.append(ends[-1] + n)
            if not unsafe and ends[-1] != data.shape[axis]:
                raise RuntimeError("segment_reduce(): Expected all rows of lengths along axis to sum to data.size(lengths.dim()-1) when !unsafe.")
        x = data.new_zeros([data.shape[axis]] + rest) if rows is None else rows[i]
        made += [_segment(x[a:b], reduce, 0, initial) for a, b in zip(ends, ends[1:])]
    count = given.shape[-1] - (lengths is None)
    return torch.stack(made).reshape(lead + [count] + rest) if made else data.new_zeros(lead + [count] + rest)


class _OnlyThere(Function):
    """PyTorch's derivative of `as_strided_scatter` has the gradient where the source is written, and none elsewhere."""

    @staticmethod
    def forward(ctx, input, made, places):
        ctx.places = places
        return made.detach().clone()

    @staticmethod
    def backward(ctx, g):
        there = torch.zeros(g.numel(), dtype=torch.bool)
        there[ctx.places.reshape(-1)] = True
        return torch.where(there.reshape(g.shape), g, 0.0), g, None


def as_strided_scatter(input, src, size, stride, storage_offset=None):
    places = torch.as_strided(torch.arange(input.numel()), size, stride, storage_offset)
    made = input.detach().reshape(-1).index_put((places,), src).reshape(input.shape)
    if torch.is_grad_enabled() and input.requires_grad:
        return _OnlyThere.apply(input, made, places)
    return made
