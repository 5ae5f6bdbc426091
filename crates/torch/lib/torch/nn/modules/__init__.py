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
from torch.nn.modules.lazy import *
from torch.nn.parallel import DataParallel
