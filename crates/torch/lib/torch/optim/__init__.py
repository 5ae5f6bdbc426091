"""torch.optim."""

import _missing
from torch.optim.optimizer import Optimizer, SGD, Adam, AdamW, RMSprop, Adagrad
from torch.optim.adaptive import Adadelta, Adamax, NAdam, RAdam, Rprop, ASGD, Adafactor, Muon, SparseAdam


__getattr__ = _missing.names("torch.optim", globals())
