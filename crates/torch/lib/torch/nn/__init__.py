"""torch.nn."""

from torch.nn.parameter import Parameter, Buffer
from torch.nn.modules import *
from torch.nn.modules import module as _module
from torch.nn import functional, init, utils, modules, parameter
from torch import _C


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(f"module 'torch.nn' has no attribute '{name}'")
    known = [n for n in globals() if not n.startswith("_")]
    raise NotImplementedError(f"torch.nn.{name} is not there; the nearest name is torch.nn.{_C.nearest(name, known)}")
