"""Hooks of the steps of all optimizers."""

from torch.optim.optimizer import Optimizer
from torch._hooks import add

Optimizer._every = {"before": {}, "after": {}}


def register_optimizer_step_pre_hook(hook):
    return add(Optimizer._every["before"], hook)


def register_optimizer_step_post_hook(hook):
    return add(Optimizer._every["after"], hook)
