"""Padding. The classes differ in the dimensions that they pad and in what they pad with."""

from torch.nn import functional as F
from torch.nn.modules.module import Module

__all__ = ["ZeroPad1d", "ZeroPad2d", "ZeroPad3d", "ConstantPad1d", "ConstantPad2d", "ConstantPad3d", "ReflectionPad1d",
           "ReflectionPad2d", "ReflectionPad3d", "ReplicationPad1d", "ReplicationPad2d", "ReplicationPad3d", "CircularPad1d",
           "CircularPad2d", "CircularPad3d"]


class _Pad(Module):
    _dims, _mode = 2, "constant"

    def __init__(self, padding):
        super().__init__()
        self.padding = tuple(padding) if isinstance(padding, (tuple, list)) else (padding,) * (2 * self._dims)

    def forward(self, input):
        n = self._dims + 1
        if self._mode == "circular" and input.dim() not in (n, n + 1):
            raise ValueError(f"expected {n}D or {n + 1}D input (got {input.dim()}D input)")
        return F.pad(input, self.padding, self._mode)

    def extra_repr(self):
        return f"{self.padding}"


class _Constant(_Pad):
    def __init__(self, padding, value):
        super().__init__(padding)
        self.value = value

    def forward(self, input):
        return F.pad(input, self.padding, "constant", self.value)

    def extra_repr(self):
        return f"padding={self.padding}, value={self.value}"


class ZeroPad1d(_Pad):
    _dims = 1


class ZeroPad2d(_Pad):
    _dims = 2


class ZeroPad3d(_Pad):
    _dims = 3


class ConstantPad1d(_Constant):
    _dims = 1


class ConstantPad2d(_Constant):
    _dims = 2


class ConstantPad3d(_Constant):
    _dims = 3


class ReflectionPad1d(_Pad):
    _dims, _mode = 1, "reflect"


class ReflectionPad2d(_Pad):
    _dims, _mode = 2, "reflect"


class ReflectionPad3d(_Pad):
    _dims, _mode = 3, "reflect"


class ReplicationPad1d(_Pad):
    _dims, _mode = 1, "replicate"


class ReplicationPad2d(_Pad):
    _dims, _mode = 2, "replicate"


class ReplicationPad3d(_Pad):
    _dims, _mode = 3, "replicate"


class CircularPad1d(_Pad):
    _dims, _mode = 1, "circular"


class CircularPad2d(_Pad):
    _dims, _mode = 2, "circular"


class CircularPad3d(_Pad):
    _dims, _mode = 3, "circular"
