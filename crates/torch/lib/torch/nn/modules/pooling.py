"""Pooling."""

import _missing
from torch.nn import functional as F
from torch.nn.modules.module import Module

__all__ = ["MaxPool1d", "MaxPool2d", "MaxPool3d", "AvgPool1d", "AvgPool2d", "AvgPool3d", "AdaptiveAvgPool1d", "AdaptiveAvgPool2d",
           "AdaptiveAvgPool3d", "AdaptiveMaxPool1d", "AdaptiveMaxPool2d", "AdaptiveMaxPool3d", "LPPool1d", "LPPool2d",
           "LPPool3d", "MaxUnpool1d", "MaxUnpool2d", "MaxUnpool3d"]


class _MaxPool(Module):
    def __init__(self, kernel_size, stride=None, padding=0, dilation=1, return_indices=False, ceil_mode=False):
        super().__init__()
        self.kernel_size, self.stride = kernel_size, kernel_size if stride is None else stride
        self.padding, self.dilation, self.return_indices, self.ceil_mode = padding, dilation, return_indices, ceil_mode

    def forward(self, input):
        return getattr(F, self._function)(
            input, self.kernel_size, self.stride, self.padding, self.dilation, ceil_mode=self.ceil_mode, return_indices=self.return_indices)

    def extra_repr(self):
        return (f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}, dilation={self.dilation}, "
                f"ceil_mode={self.ceil_mode}")


class MaxPool1d(_MaxPool):
    _function = "max_pool1d"


class MaxPool2d(_MaxPool):
    _function = "max_pool2d"


class MaxPool3d(_MaxPool):
    _function = "max_pool3d"


class _AvgPool(Module):
    def __init__(self, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True, divisor_override=None):
        super().__init__()
        self.kernel_size, self.stride = kernel_size, kernel_size if stride is None else stride
        self.padding, self.ceil_mode, self.count_include_pad = padding, ceil_mode, count_include_pad
        self._divisor = {} if divisor_override is None else {"divisor_override": divisor_override}

    divisor_override = property(lambda self: self._divisor.get("divisor_override"))

    def forward(self, input):
        return getattr(F, self._function)(
            input, self.kernel_size, self.stride, self.padding, ceil_mode=self.ceil_mode, count_include_pad=self.count_include_pad,
            **self._divisor)

    def extra_repr(self):
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


class AvgPool1d(_AvgPool):
    _function = "avg_pool1d"

    def __init__(self, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True):
        stride = kernel_size if stride is None else stride
        one = [(n,) if isinstance(n, int) else tuple(n) for n in (kernel_size, stride, padding)]
        super().__init__(*one, ceil_mode, count_include_pad)


class AvgPool2d(_AvgPool):
    _function = "avg_pool2d"


class AvgPool3d(_AvgPool):
    _function = "avg_pool3d"


class _AdaptivePool(Module):
    def __init__(self, output_size):
        super().__init__()
        self.output_size = output_size

    def forward(self, input):
        return getattr(F, self._function)(input, self.output_size)

    def extra_repr(self):
        return f"output_size={self.output_size}"


class AdaptiveAvgPool1d(_AdaptivePool):
    _function = "adaptive_avg_pool1d"


class AdaptiveAvgPool2d(_AdaptivePool):
    _function = "adaptive_avg_pool2d"


class AdaptiveAvgPool3d(_AdaptivePool):
    _function = "adaptive_avg_pool3d"


class _AdaptiveMaxPool(_AdaptivePool):
    def __init__(self, output_size, return_indices=False):
        super().__init__(output_size)
        self.return_indices = return_indices

    def forward(self, input):
        return getattr(F, self._function)(input, self.output_size, return_indices=self.return_indices)


class AdaptiveMaxPool1d(_AdaptiveMaxPool):
    _function = "adaptive_max_pool1d"


class AdaptiveMaxPool2d(_AdaptiveMaxPool):
    _function = "adaptive_max_pool2d"


class AdaptiveMaxPool3d(_AdaptiveMaxPool):
    _function = "adaptive_max_pool3d"


class _LPPool(Module):
    def __init__(self, norm_type, kernel_size, stride=None, ceil_mode=False):
        super().__init__()
        self.norm_type, self.kernel_size, self.stride, self.ceil_mode = norm_type, kernel_size, stride, ceil_mode

    def forward(self, input):
        return getattr(F, self._function)(input, float(self.norm_type), self.kernel_size, self.stride, self.ceil_mode)

    def extra_repr(self):
        return f"norm_type={self.norm_type}, kernel_size={self.kernel_size}, stride={self.stride}, ceil_mode={self.ceil_mode}"


class LPPool1d(_LPPool):
    _function = "lp_pool1d"


class LPPool2d(_LPPool):
    _function = "lp_pool2d"


class LPPool3d(_LPPool):
    _function = "lp_pool3d"


class _MaxUnpool(Module):
    def __init__(self, kernel_size, stride=None, padding=0):
        super().__init__()
        n = int(self._function[-2])
        self.kernel_size, self.stride, self.padding = [
            (v,) * n if isinstance(v, int) else tuple(v) for v in (kernel_size, kernel_size if stride is None else stride, padding)]

    def forward(self, input, indices, output_size=None):
        return getattr(F, self._function)(input, indices, self.kernel_size, self.stride, self.padding, output_size)

    def extra_repr(self):
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


class MaxUnpool1d(_MaxUnpool):
    _function = "max_unpool1d"


class MaxUnpool2d(_MaxUnpool):
    _function = "max_unpool2d"


class MaxUnpool3d(_MaxUnpool):
    _function = "max_unpool3d"


# Files name these classes here.
__getattr__ = _missing.names("torch.nn.modules.pooling", globals())
_MaxPoolNd, _AvgPoolNd, _AdaptiveAvgPoolNd, _AdaptiveMaxPoolNd = _MaxPool, _AvgPool, _AdaptivePool, _AdaptiveMaxPool
_LPPoolNd, _MaxUnpoolNd = _LPPool, _MaxUnpool
