"""torch.optim."""

import _missing
from torch.optim.optimizer import Optimizer, SGD, Adam, AdamW, RMSprop, Adagrad
from torch.optim.adaptive import Adadelta, Adamax, NAdam, RAdam, Rprop, ASGD, Adafactor, Muon
from torch.optim.lbfgs import LBFGS
from torch.optim import lr_scheduler


def SparseAdam(params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, maximize=False):
    raise NotImplementedError("torch.optim.SparseAdam: gradients are dense here; use torch.optim.Adam, and Embedding without sparse=True")


__getattr__ = _missing.names("torch.optim", globals())
