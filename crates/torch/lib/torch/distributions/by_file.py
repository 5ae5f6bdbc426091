"""The modules that PyTorch has for single distributions: `torch.distributions.normal` and its like."""

from torch.distributions import *
from torch.distributions.constraints import biject_to, transform_to
