"""torch.optim."""

from torch.optim.optimizer import Optimizer, SGD, Adam, AdamW, RMSprop, Adagrad
from torch.optim.adaptive import Adadelta, Adamax, NAdam, RAdam, Rprop, ASGD, Adafactor, Muon
from torch.optim.lbfgs import LBFGS
from torch.optim import lr_scheduler
from torch import _C


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(f"module 'torch.optim' has no attribute '{name}'")
    known = [n for n in globals() if not n.startswith("_")]
    raise NotImplementedError(f"torch.optim.{name} is not there; the nearest name is torch.optim.{_C.nearest(name, known)}")
