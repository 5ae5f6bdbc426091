"""The modules of torch.nn."""

from torch.nn.modules.module import Module
from torch.nn.modules.container import Sequential, ModuleList, ModuleDict, ParameterList, ParameterDict
from torch.nn.modules.layers import *
from torch.nn.modules.activation import *
from torch.nn.modules.norm import *
from torch.nn.modules.loss import *
