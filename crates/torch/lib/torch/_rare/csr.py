"""Sparse matrices by compressed rows: where each row's values begin, their columns, and the values."""

import torch
from torch.sparse import SparseTensor, shown


class SparseCSR(SparseTensor):
    is_sparse, is_sparse_csr, layout = False, True, "torch.sparse_csr"

    def crow_indices(self):
        counts = torch.zeros(self.shape[0], dtype=torch.int64).index_add(0, self._at[0], torch.ones_like(self._at[0]))
        return torch.cat([torch.zeros(1, dtype=torch.int64), counts.cumsum(0)])

    def col_indices(self):
        return self._at[1]

    def _like(self, values):
        return SparseCSR(self._at, values, self.shape, True)

    def to(self, *args, **kwargs):
        return self._like(self._held.to(*args, **kwargs))

    def to_sparse_csr(self, dense_dim=None):
        return self

    def to_sparse_coo(self):
        return SparseTensor(self._at, self._held, self.shape, True)

    def to_sparse(self, *args, **kwargs):
        return self.to_sparse_coo()

    def indices(self):
        raise RuntimeError("indices expected sparse coordinate tensor layout but got SparseCsr")

    def __add__(self, other):
        made = self.to_sparse_coo() + (other.to_sparse_coo() if isinstance(other, SparseCSR) else other)
        return of(made) if isinstance(made, SparseTensor) else made

    __radd__ = add = __add__

    def __repr__(self):
        parts = {"crow_indices": self.crow_indices(), "col_indices": self.col_indices(), "values": self._held}
        return shown(self, parts, "torch.sparse_csr", False)

    __str__ = __repr__


def of(matrix):
    """A matrix by compressed rows, of one by coordinates or of a dense one."""
    made = (matrix if isinstance(matrix, SparseTensor) else matrix.to_sparse()).coalesce()
    if made.dim() != 2:
        raise NotImplementedError("to_sparse_csr of a tensor that is no matrix: batches are not kept by rows; use to_sparse()")
    return SparseCSR(made._at, made._held, made.shape, True)


def sparse_csr_tensor(crow_indices, col_indices, values, size=None, *, dtype=None, device=None, requires_grad=False, pin_memory=False,
                      check_invariants=None):
    crow, columns = torch.as_tensor(crow_indices), torch.as_tensor(col_indices)
    held = torch.as_tensor(values) if dtype is None else torch.as_tensor(values, dtype=dtype)
    held = held.detach().requires_grad_() if requires_grad else held
    if size is None:
        size = (crow.shape[0] - 1, int(columns.max()) + 1 if columns.numel() else 0)
    rows = torch.repeat_interleave(torch.arange(size[0]), crow[1:] - crow[:-1])
    return SparseCSR(torch.stack([rows, columns]), held, size, True)
