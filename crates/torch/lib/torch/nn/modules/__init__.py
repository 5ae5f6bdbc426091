"""The modules of torch.nn."""

from torch.nn.modules.module import Module
from torch.nn.modules.container import Sequential, ModuleList, ModuleDict, ParameterList, ParameterDict
from torch.nn.modules.layers import *
from torch.nn.modules.pooling import *
from torch.nn.modules.padding import *
from torch.nn.modules.activation import *
from torch.nn.modules.norm import *
from torch.nn.modules.loss import *
from torch.nn.modules.rnn import *
from torch.nn.modules.transformer import *
from torch.nn.parallel import DataParallel
from torch import _C
import _missing
import functools as _functools
import sys as _sys

__all__ = [_name for _name in list(globals()) if isinstance(globals()[_name], type)]


def _files():
    """PyTorch's own files of these modules, by name."""
    from torch.nn.modules import layers, norm, utils
    for names, where in (("conv linear dropout sparse flatten upsampling fold distance pixelshuffle channelshuffle", layers),
                         ("batchnorm instancenorm normalization", norm)):
        for name in names.split():
            _sys.modules["torch.nn.modules." + name] = globals()[name] = where
    # In which a class is told by its name.
    parts = """Loss:loss Conv:conv BatchNorm:batchnorm InstanceNorm:instancenorm Norm:normalization LRN:normalization Dropout:dropout
    Embedding:sparse Pixel:pixelshuffle Upsampl:upsampling latten:flatten Fold:fold nfold:fold Cosine:distance Pairwise:distance
    Channel:channelshuffle inear:linear Identity:linear :activation"""
    for name in __all__:
        if globals()[name].__module__ in ("torch.nn", "torch.nn.modules.layers", "torch.nn.modules.norm"):
            files = [file for part, file in [p.split(":") for p in parts.split()] if part in name]
            globals()[name].__module__ = "torch.nn.modules." + files[0]


_files()


def _on_meta(init):
    """`device="meta"` of a module: its parameters have no elements."""
    @_functools.wraps(init)
    def made(self, *args, device=None, **kwargs):
        if str(device) != "meta":
            return init(self, *args, **kwargs) if device is None else init(self, *args, device=device, **kwargs)
        before = _C.set_meta(True)
        try:
            init(self, *args, **kwargs)
        finally:
            _C.set_meta(before)
    return made


for _kind in {base for _name in __all__ for base in globals()[_name].__mro__[:-1]}:
    _init = vars(_kind).get("__init__")
    _code = getattr(_init, "__code__", None)
    if _code and "device" in _code.co_varnames[:_code.co_argcount + _code.co_kwonlyargcount] and _kind.__name__ != "_ConvNd":
        _kind.__init__ = _on_meta(_init)


__getattr__ = _missing.names("torch.nn.modules", globals())
