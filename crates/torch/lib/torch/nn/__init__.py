"""torch.nn."""

import _missing
from torch.nn.parameter import Parameter, Buffer
from torch.nn.modules import *
from torch.nn.modules import module as _module
from torch.nn import functional, init, utils, modules, parameter


__getattr__ = _missing.names("torch.nn", globals())
