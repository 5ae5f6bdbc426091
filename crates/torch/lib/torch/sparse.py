"""Sparse tensors by coordinates: indices, values and a size. Products gather rows and add them up; other operators take them dense."""

import _missing
import torch
from torch import _C
from torch._C import Tensor


class SparseTensor:
    is_sparse, layout = True, "torch.sparse_coo"

    def __init__(self, indices, values, size, coalesced=False):
        self._at, self._held, self.shape, self._coalesced = indices, values, torch.Size(size), coalesced

    dtype = property(lambda self: self._held.dtype)
    device = property(lambda self: self._held.device)
    requires_grad = property(lambda self: self._held.requires_grad)
    grad = property(lambda self: self._held.grad)
    is_cuda = property(lambda self: self._held.is_cuda)
    ndim = property(lambda self: len(self.shape))
    T = property(lambda self: self.t())

    def size(self, dim=None):
        return self.shape if dim is None else self.shape[dim]

    def dim(self):
        return len(self.shape)

    def sparse_dim(self):
        return self._at.shape[0]

    def dense_dim(self):
        return self._held.dim() - 1

    def numel(self):
        return self.shape.numel()

    def _nnz(self):
        return self._held.shape[0]

    def _indices(self):
        return self._at

    def _values(self):
        return self._held

    def indices(self):
        if not self._coalesced:
            raise RuntimeError("Cannot get indices on an uncoalesced tensor, please call .coalesce() first")
        return self._at

    def values(self):
        if not self._coalesced:
            raise RuntimeError("Cannot get values on an uncoalesced tensor, please call .coalesce() first")
        return self._held

    def is_coalesced(self):
        return self._coalesced

    def coalesce(self):
        """Each place once, in order: values of one place are added."""
        if self._coalesced:
            return self
        flat = torch.zeros(self._nnz(), dtype=torch.int64)
        for row, n in zip(self._at, self.shape):
            flat = flat * n + row
        places, inverse = torch.unique(flat, return_inverse=True)
        made = torch.zeros([places.shape[0]] + list(self._held.shape[1:]), dtype=self.dtype).index_add(0, inverse, self._held)
        rows = []
        for n in reversed(self.shape[:self.sparse_dim()]):
            rows.insert(0, places % n)
            places = places // n
        return SparseTensor(torch.stack(rows), made, self.shape, True)

    def to_dense(self, dtype=None):
        made = torch.zeros(self.shape, dtype=self.dtype).index_put(tuple(self._at), self._held, accumulate=True)
        return made if dtype is None else made.to(dtype)

    def _like(self, values):
        return SparseTensor(self._at, values, self.shape, self._coalesced)

    def to(self, *args, **kwargs):
        return SparseTensor(self._at.to(*[a for a in args if not isinstance(a, torch.dtype)]), self._held.to(*args, **kwargs), self.shape,
                            self._coalesced)

    def cuda(self, device=None, non_blocking=False):
        return self.to("cuda" if device is None else device)

    def cpu(self):
        return self

    def float(self):
        return self._like(self._held.float())

    def detach(self):
        return self._like(self._held.detach())

    def clone(self):
        return self._like(self._held.clone())

    def requires_grad_(self, requires_grad=True):
        self._held.requires_grad_(requires_grad)
        return self

    def to_sparse(self):
        return self

    def to_sparse_csr(self, dense_dim=None):
        from torch._rare.csr import of
        return of(self)

    def t(self):
        return self.transpose(0, 1)

    def transpose(self, a, b):
        order = list(range(self.dim()))
        order[a], order[b] = order[b], order[a]
        return SparseTensor(torch.stack([self._at[d] for d in order]), self._held, [self.shape[d] for d in order])

    def mm(self, other):
        if self.dim() != 2 or self.shape[1] != other.shape[0]:
            raise RuntimeError(f"mat1 and mat2 shapes cannot be multiplied ({'x'.join([str(n) for n in self.shape])} and "
                               f"{'x'.join([str(n) for n in other.shape])})")
        if isinstance(other, SparseTensor):
            return self.mm(other.to_dense()).to_sparse()
        flat = other.unsqueeze(1) if other.dim() == 1 else other
        rows, columns = self._at
        parts = flat.index_select(0, columns) * self._held.unsqueeze(1)
        made = torch.zeros(self.shape[0], flat.shape[1], dtype=parts.dtype).index_add(0, rows, parts)
        return made.squeeze(1) if other.dim() == 1 else made

    matmul = mv = spmm = __matmul__ = mm

    def __mul__(self, other):
        if isinstance(other, (int, float)) or (isinstance(other, Tensor) and other.dim() == 0):
            return self._like(self._held * other)
        other = other.to_dense() if isinstance(other, SparseTensor) else other
        return self._like(self._held * other.expand(self.shape)[tuple(self._at)])

    __rmul__ = mul = __mul__

    def __truediv__(self, other):
        return self._like(self._held / other)

    def __neg__(self):
        return self._like(-self._held)

    def __add__(self, other):
        if not isinstance(other, SparseTensor):
            return self.to_dense() + other
        return SparseTensor(torch.cat([self._at, other._at], 1), torch.cat([self._held, other._held]), self.shape).coalesce()

    __radd__ = add = __add__

    def __sub__(self, other):
        return self + -other

    def sum(self, dim=None):
        return self._held.sum() if dim is None else self.to_dense().sum(dim)

    def __getitem__(self, index):
        return self.to_dense()[index]

    def __repr__(self):
        return shown(self, {"indices": self._at, "values": self._held}, "torch.sparse_coo", True)


def shown(sparse, parts, layout, newline):
    """The text of a sparse tensor: its parts below each other, then what it is, in lines of eighty characters."""
    text = "tensor(" + ",\n       ".join([f"{name}={torch._C.repr(x.detach(), None, 15 + len(name))}" for name, x in parts.items()])
    after = [f"size={tuple(sparse.shape)}", f"nnz={sparse._nnz()}"]
    if sparse.dtype not in (torch.get_default_dtype(), torch.int64, torch.bool, torch.complex64):
        after.append(f"dtype={sparse.dtype}")
    after += [f"layout={layout}"] + ["requires_grad=True"] * sparse.requires_grad
    width = len(text) - text.rfind("\n") + 1
    for each in after:
        wraps = newline or width + len(each) + 2 > 80
        text += (",\n       " if wraps else ", ") + each
        width, newline = len(each) + (7 if wraps else width + 2), False
    return text + ")"


def sparse_coo_tensor(indices, values=None, size=None, *, dtype=None, device=None, requires_grad=False, check_invariants=None,
                      is_coalesced=None):
    torch._place(device)
    if values is None:
        return SparseTensor(torch.zeros(len(indices), 0, dtype=torch.int64), torch.zeros(0, dtype=dtype), indices, True)
    indices = indices if isinstance(indices, Tensor) else torch.tensor(indices)
    values = values if isinstance(values, Tensor) else torch.tensor(values)
    values = values if dtype is None else values.to(dtype)
    if indices.dim() != 2:
        raise RuntimeError(f"indices must be sparse_dim x nnz, but got: {list(indices.shape)}")
    if indices.shape[1] != values.shape[0]:
        raise RuntimeError(f"number of dimensions must be sparse_dim ({indices.shape[0]}) + dense_dim (0), and values must have as many rows "
                           f"as there are indices, but got {indices.shape[1]} indices and {values.shape[0]} values")
    least = [n + 1 for n in indices.amax(1).tolist()] if indices.shape[1] else [0] * indices.shape[0]
    if size is None:
        size = least + list(values.shape[1:])
    for d, (need, have) in enumerate(zip(least, size)):
        if need > have:
            raise RuntimeError(f"size is inconsistent with indices: for dim {d}, size is {have} but found index {need - 1}")
    if indices.shape[1] and indices.min().item() < 0:
        raise RuntimeError(f"found negative index {indices.min().item()}")
    made = SparseTensor(indices, values.detach() if requires_grad else values, size, bool(is_coalesced))
    return made.requires_grad_() if requires_grad else made


FloatTensor = sparse_coo_tensor


def to_sparse(self, sparse_dim=None, *, layout=None, blocksize=None, dense_dim=None):
    """By the places of what is not zero along the first dimensions; along the others all elements are kept."""
    if blocksize is not None:
        kind = "SparseCsr" if str(layout) == "torch.sparse_csr" else "Sparse"
        raise RuntimeError(f"dense_to_sparse: conversion from Strided to {kind} with blocksize argument given is not supported")
    if str(layout) == "torch.sparse_csr":
        return self.to_sparse_csr(dense_dim)
    kept = self.dim() - (dense_dim or 0) if sparse_dim is None else sparse_dim
    if not 0 <= kept <= self.dim() or self.dim() and not kept:
        raise RuntimeError(f"sparse dimension argument for Sparse layout must be in 1..{self.dim()}, but got {kept}")
    shown = self.detach() if kept == self.dim() else (self.detach() != 0).flatten(kept).any(-1)
    at = torch.nonzero(shown, as_tuple=True)
    return SparseTensor(torch.stack(list(at)), self[at], self.shape, True)


def mm(mat1, mat2):
    return mat1.mm(mat2) if isinstance(mat1, SparseTensor) else mat1 @ (mat2.to_dense() if isinstance(mat2, SparseTensor) else mat2)


def addmm(mat, mat1, mat2, *, beta=1.0, alpha=1.0):
    return beta * mat + alpha * mm(mat1, mat2)


def sum(input, dim=None, dtype=None):
    return input.sum(dim)


def softmax(input, dim):
    """Over the values that are there."""
    dense = input.to_dense()
    there = torch.zeros(input.shape, dtype=torch.bool).index_put(tuple(input._indices()), torch.ones(input._nnz(), dtype=torch.bool))
    made = dense.masked_fill(there.logical_not(), float("-inf")).softmax(dim)
    return input._like(made[tuple(input._indices())])


spmm = mm

__getattr__ = _missing.names("torch.sparse", globals())
