"""Hooks of the steps of all optimizers."""

from torch.nn.modules.module import _Handle
from torch.optim.optimizer import Optimizer

Optimizer._every = {"before": {}, "after": {}}


def _register(when, hook):
    key = object()
    Optimizer._every[when][key] = hook
    return _Handle(Optimizer._every[when], key)


def register_optimizer_step_pre_hook(hook):
    return _register("before", hook)


def register_optimizer_step_post_hook(hook):
    return _register("after", hook)
