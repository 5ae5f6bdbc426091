"""Counts of values, and tensors turned, joined or picked from in ways that scripts seldom ask for."""

from torch import _C
from torch._functions import broadcast_shapes

_ops = _C._ops


def bincount(input, weights=None, minlength=0):
    if input.dtype.is_floating_point:
        raise NotImplementedError("\"bincount_cpu\" not implemented for 'Float'")
    values = input.tolist()
    if input.dim() != 1 or [v for v in values if v < 0]:
        raise RuntimeError("bincount only supports 1-d non-negative integral inputs.")
    weight = weights.tolist() if weights is not None else [1] * len(values)
    n = minlength
    for v in values:
        n = n if n > v + 1 else v + 1
    out = [0] * n
    for v, w in zip(values, weight):
        out[v] += w
    return _C.tensor(out, _C.int64 if weights is None or not n else weights.dtype if weights.dtype == _C.float32 else _C.float64)


def rot90(input, k=1, dims=(0, 1)):
    if len(dims) != 2:
        raise RuntimeError(f"expected total rotation dims == 2, but got dims = {len(dims)}")
    if input.dim() < 2:
        raise RuntimeError(f"expected total dims >= 2, but got total dims = {input.dim()}")
    if dims[0] == dims[1]:
        raise RuntimeError(f"expected rotation dims to be different, but got dim0 = {dims[0]} and dim1 = {dims[1]}")
    for _ in range(k % 4):
        input = input.transpose(dims[0], dims[1]).flip(dims[0])
    return input


def block_diag(*tensors):
    tensors = [t.reshape(1, -1) if t.dim() < 2 else t for t in tensors]
    width = 0
    for t in tensors:
        width += t.shape[1]
    rows, at = [], 0
    for t in tensors:
        rows.append(_ops["pad"](t, [at, width - at - t.shape[1]]))
        at += t.shape[1]
    return _ops["cat"](rows)


def cartesian_prod(*tensors):
    if len(tensors) == 1:
        return tensors[0]
    grids = _ops["meshgrid"](list(tensors), indexing="ij")
    return _ops["stack"]([g.reshape(-1) for g in grids], 1)


def take_along_dim(input, indices, dim=None):
    if dim is None:
        return input.reshape(-1).gather(0, indices.reshape(-1))
    if input.dim() != indices.dim():
        raise RuntimeError("torch.take_along_dim(): input and indices should have the same number of dimensions, but got "
                           f"{input.dim()} dimensions for input, and {indices.dim()} dimensions for indices")
    if indices.dtype != _C.int64:
        raise RuntimeError(f"torch.take_along_dim(): dtype of indices should be Long but got {indices.type()[6:-6]}")
    if not -input.dim() <= dim < input.dim():
        raise IndexError(f"Dimension out of range (expected to be in range of [{-input.dim()}, {input.dim() - 1}], but got {dim})")
    dim %= input.dim()
    apart = [[1 if d == dim else n for d, n in enumerate(x.shape)] for x in (input, indices)]
    input, indices = [x.expand([x.shape[dim] if d == dim else n for d, n in enumerate(broadcast_shapes(*apart))]) for x in (input, indices)]
    return input.gather(dim, _ops["where"](indices < 0, indices + input.shape[dim], indices))
