"""What tensors do with the memory that they lie in: their bits as another type, and other sizes in place."""

from torch import _C
import torch


def bits(self, dtype):
    """`view(dtype)`: a copy of the bytes, where PyTorch shares them. Of sizes that differ the last dimension tells how many there are."""
    have, want = self.dtype.itemsize, dtype.itemsize
    if dtype == self.dtype:
        return self.view(self.shape)
    if torch.complex64 in (self.dtype, dtype):
        # The parts are floats that lie side by side, and stay the same elements.
        if dtype != torch.complex64:
            return torch.view_as_real(self).flatten(-2).view(dtype)
        floats = self.view(torch.float32)
        if not floats.dim() or floats.shape[-1] % 2:
            raise RuntimeError("self.size(-1) must be divisible by 2 to view Float as ComplexFloat (different element sizes), but got "
                               f"{floats.shape[-1] if floats.dim() else 1}")
        return torch.view_as_complex(floats.unflatten(-1, (-1, 2)))
    names = [torch.zeros(0, dtype=k).type().split(".")[1].removesuffix("Tensor") for k in (self.dtype, dtype)]
    if self.requires_grad:
        raise NotImplementedError("Tensor.view(dtype) of a tensor that requires grad; call detach() first")
    shape = list(self.shape)
    if have != want and not shape:
        raise RuntimeError(f"self.dim() cannot be 0 to view {names[0]} as {names[1]} (different element sizes)")
    if have > want:
        shape[-1] *= have // want
    elif have < want:
        if shape[-1] * have % want:
            raise RuntimeError(f"self.size(-1) must be divisible by {want // have} to view {names[0]} as {names[1]} (different element "
                               f"sizes), but got {shape[-1]}")
        shape[-1] = shape[-1] * have // want
    return _C.from_bytes(_C.to_bytes(self), dtype, shape)


def resize(self, sizes):
    """`resize_`: elements stay in their order; those that a smaller size leaves out come back with a larger one, new ones are zero."""
    if _C.is_view(self):
        raise NotImplementedError("Tensor.resize_ of a view; make a tensor of its own first: x = x.clone()")
    n = torch.Size(sizes).numel()
    flat, rest = self.detach().reshape(-1), self.__dict__.get("_rest")
    if rest is not None:
        flat = torch.cat([flat, rest])
    if flat.numel() < n:
        flat = torch.cat([flat, torch.zeros(n - flat.numel(), dtype=self.dtype)])
    _C.reshaped(self, flat[:n].clone().reshape(sizes))
    self._rest = flat[n:].clone()
