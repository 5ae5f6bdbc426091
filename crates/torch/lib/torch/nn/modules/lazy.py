"""Modules that learn the number of their input's features from the first input. The parameters are there from the start, empty."""

from torch import _C
from torch.nn.modules.layers import Conv1d, Conv2d, Conv3d, ConvTranspose1d, ConvTranspose2d, ConvTranspose3d, Linear
from torch.nn.modules.module import Module
from torch.nn.modules.norm import BatchNorm1d, BatchNorm2d, BatchNorm3d, InstanceNorm1d, InstanceNorm2d, InstanceNorm3d

__all__ = []


def _make(base, field):
    """A class like `base` without its first argument, which the attribute `field` keeps."""

    class Lazy(base):
        def __init__(self, *args, **kwargs):
            base.__init__(self, 0, *args, **kwargs)
            self._made = ((), args, kwargs)

        def reset_parameters(self):
            pass

        def __call__(self, input, *args, **kwargs):
            _, given, named = self.__dict__.pop("_made")
            fresh = base(input.shape[-1] if base is Linear else input.shape[1], *given, **named)
            for name, value in fresh._parameters.items():
                if value is not None:
                    self._parameters[name].data = value.data
            for name, value in fresh._buffers.items():
                self._buffers[name] = value
            for name in (field, "num_features"):
                if name in fresh.__dict__:
                    self.__dict__[name] = fresh.__dict__[name]
            self.__class__ = base
            return base.__call__(self, input, *args, **kwargs)

    Lazy.__name__ = Lazy.__qualname__ = "Lazy" + base.__name__
    Lazy.__module__ = "torch.nn"
    globals()[Lazy.__name__] = Lazy
    __all__.append(Lazy.__name__)


_make(Linear, "in_features")
for _base in (Conv1d, Conv2d, Conv3d, ConvTranspose1d, ConvTranspose2d, ConvTranspose3d):
    _make(_base, "in_channels")
for _base in (BatchNorm1d, BatchNorm2d, BatchNorm3d, InstanceNorm1d, InstanceNorm2d, InstanceNorm3d):
    _make(_base, "num_features")
