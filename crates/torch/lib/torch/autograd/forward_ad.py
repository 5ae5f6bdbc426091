"""torch.autograd.forward_ad: tensors with tangents. A tangent is computed when it is asked for, by two reverse passes: that of a result
with a cotangent v is linear in v, and its derivative by v, given the tangents, is the result's tangent (Townsend, 2017)."""

from collections import namedtuple
from torch import _C
from torch._C import Tensor
import torch

# For each level that is entered, the dual tensors that were made in it and their tangents.
_levels = []
UnpackedDualTensor = namedtuple("UnpackedDualTensor", ("primal", "tangent"))


def enter_dual_level():
    if _levels:
        raise RuntimeError("Nested forward mode AD is not supported at the moment")
    _levels.append([])
    return 0


def exit_dual_level(*, level=None):
    if not _levels:
        raise RuntimeError("Trying to exit a forward AD level that was not the last one that was created. This is not supported.")
    _levels.pop()


class dual_level:
    def __enter__(self):
        return enter_dual_level()

    def __exit__(self, *exc):
        exit_dual_level()
        return False


def make_dual(tensor, tangent, *, level=None):
    if not _levels:
        raise RuntimeError("Trying to create a dual Tensor for forward AD but no level exists, make sure to enter_dual_level() first.")
    if not (tensor.dtype.is_floating_point or tensor.dtype.is_complex):
        raise ValueError(f"Expected primal to be floating point or complex, but got: {tensor.dtype}")
    if not (tangent.dtype.is_floating_point or tangent.dtype.is_complex):
        raise ValueError(f"Expected tangent to be floating point or complex, but got: {tangent.dtype}")
    if tuple(tensor.shape) != tuple(tangent.shape):
        raise RuntimeError("Trying to set a forward gradient that has a different size than that of the original Tensor, this is not "
                           f"supported. Tensor is of size {list(tensor.shape)} while the given forward gradient is of size "
                           f"{list(tangent.shape)}.")
    with torch.enable_grad():
        # A tensor of its own on the tape: its gradient is asked for, and goes on to the one that it was made of.
        made = tensor.view_as(tensor) if tensor.requires_grad else tensor.detach().requires_grad_()
    _levels[-1].append((made, tangent))
    return made


def unpack_dual(tensor, *, level=None):
    if not _levels or not isinstance(tensor, Tensor):
        return UnpackedDualTensor(tensor, None)
    duals = _levels[-1]
    # What the dual tensors were made of, or others beside them, may have gradients that are asked for later.
    keep = tensor.requires_grad and _C.reaches_others(tensor, [d for d, _ in duals])
    primal = tensor if keep else tensor.detach()
    for made, tangent in duals:
        if made is tensor:
            return UnpackedDualTensor(primal, tangent)
    if not tensor.requires_grad or not duals:
        return UnpackedDualTensor(tensor, None)
    with torch.enable_grad():
        cotangent = torch.zeros_like(tensor).requires_grad_()
        found = torch.autograd.grad(tensor, [d for d, _ in duals], cotangent, create_graph=True, allow_unused=True)
        known = [(g, t) for g, (_, t) in zip(found, duals) if g is not None]
        if not known:
            return UnpackedDualTensor(primal, None)
        known = [(g, t) for g, t in known if g.requires_grad]
        if not known:
            return UnpackedDualTensor(primal, torch.zeros_like(primal))
        keep = keep or any([t.requires_grad for _, t in known])
        tangent, = torch.autograd.grad([g for g, _ in known], [cotangent], [t for _, t in known], create_graph=keep, retain_graph=True,
                                       allow_unused=True)
    return UnpackedDualTensor(primal, torch.zeros_like(primal) if tangent is None else tangent)
