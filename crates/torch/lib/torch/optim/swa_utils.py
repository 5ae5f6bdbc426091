"""Averages of a model's parameters along its training."""

from torch import _C
from torch.autograd import no_grad
from torch.nn.modules.module import Module
from torch.nn.modules.norm import _BatchNorm
from torch.optim.lr_scheduler import LRScheduler
import copy
import math

__all__ = ["AveragedModel", "SWALR", "update_bn", "get_ema_avg_fn", "get_ema_multi_avg_fn", "get_swa_avg_fn", "get_swa_multi_avg_fn"]


def get_ema_multi_avg_fn(decay=0.999):
    if decay < 0.0 or decay > 1.0:
        raise ValueError(f"Invalid decay value {decay} provided. Please provide a value in [0,1] range.")

    @no_grad()
    def ema_update(ema_param_list, current_param_list, _):
        for ema, current in zip(ema_param_list, current_param_list):
            whole = not ema.dtype.is_floating_point
            ema.copy_(ema * decay + current * (1 - decay) if whole else _C._ops["lerp"](ema, current, 1 - decay))
    return ema_update


def get_swa_multi_avg_fn():
    @no_grad()
    def swa_update(averaged_param_list, current_param_list, num_averaged):
        for averaged, current in zip(averaged_param_list, current_param_list):
            averaged.copy_(averaged + (current - averaged) / (num_averaged + 1))
    return swa_update


def get_ema_avg_fn(decay=0.999):
    if decay < 0.0 or decay > 1.0:
        raise ValueError(f"Invalid decay value {decay} provided. Please provide a value in [0,1] range.")

    @no_grad()
    def ema_update(ema_param, current_param, num_averaged):
        return decay * ema_param + (1 - decay) * current_param
    return ema_update


def get_swa_avg_fn():
    @no_grad()
    def swa_update(averaged_param, current_param, num_averaged):
        return averaged_param + (current_param - averaged_param) / (num_averaged + 1)
    return swa_update


class AveragedModel(Module):
    def __init__(self, model, device=None, avg_fn=None, multi_avg_fn=None, use_buffers=False):
        super().__init__()
        if avg_fn is not None and multi_avg_fn is not None:
            raise AssertionError("Only one of avg_fn and multi_avg_fn should be provided")
        self.module = copy.deepcopy(model)
        if device is not None:
            self.module = self.module.to(device)
        self.register_buffer("n_averaged", _C.tensor(0, _C.int64))
        self.avg_fn, self.multi_avg_fn, self.use_buffers = avg_fn, multi_avg_fn, use_buffers

    def forward(self, *args, **kwargs):
        return self.module(*args, **kwargs)

    def _averaged(self, model):
        found = list(model.parameters())
        return found + list(model.buffers()) if self.use_buffers else found

    @no_grad()
    def update_parameters(self, model):
        own, new = self._averaged(self.module), [p.detach() for p in self._averaged(model)]
        if self.n_averaged == 0:
            for averaged, p in zip(own, new):
                averaged.detach().copy_(p)
        elif self.avg_fn is None:
            average = get_swa_multi_avg_fn() if self.multi_avg_fn is None else self.multi_avg_fn
            average([p.detach() for p in own], new, self.n_averaged)
        else:
            for averaged, p in zip(own, new):
                averaged.detach().copy_(self.avg_fn(averaged.detach(), p, self.n_averaged))
        if not self.use_buffers:
            for averaged, b in zip(self.module.buffers(), model.buffers()):
                averaged.detach().copy_(b.detach())
        self.n_averaged += 1


@no_grad()
def update_bn(loader, model, device=None):
    momenta = {}
    for module in model.modules():
        if isinstance(module, _BatchNorm):
            module.reset_running_stats()
            momenta[module] = module.momentum
    if not momenta:
        return
    was_training = model.training
    model.train()
    for module in momenta:
        module.momentum = None
    for input in loader:
        if isinstance(input, (list, tuple)):
            input = input[0]
        model(input if device is None else input.to(device))
    for module, momentum in momenta.items():
        module.momentum = momentum
    model.train(was_training)


class SWALR(LRScheduler):
    def __init__(self, optimizer, swa_lr, anneal_epochs=10, anneal_strategy="cos", last_epoch=-1):
        rates = list(swa_lr) if isinstance(swa_lr, (list, tuple)) else [swa_lr] * len(optimizer.param_groups)
        for rate, group in zip(rates, optimizer.param_groups):
            group["swa_lr"] = rate
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError(f"anneal_strategy must by one of 'cos' or 'linear', instead got {anneal_strategy}")
        if not isinstance(anneal_epochs, int) or anneal_epochs < 0:
            raise ValueError(f"anneal_epochs must be equal or greater than 0, got {anneal_epochs}")
        self._strategy, self.anneal_epochs = anneal_strategy, anneal_epochs
        super().__init__(optimizer, last_epoch)

    def _share(self, t):
        return (1 - math.cos(math.pi * t)) / 2 if self._strategy == "cos" else t

    def get_lr(self):
        if self.last_epoch == 0:
            return self._rates()
        step = self._step_count - 1
        epochs = max(1, self.anneal_epochs) if self.anneal_epochs == 0 else self.anneal_epochs
        if self.anneal_epochs == 0:
            step = max(1, step)
        before = self._share(max(0, min(1, (step - 1) / epochs)))
        share = self._share(max(0, min(1, step / epochs)))
        made = []
        for group in self.optimizer.param_groups:
            old = group["swa_lr"] if before == 1 else (group["lr"] - before * group["swa_lr"]) / (1 - before)
            made.append(group["swa_lr"] * share + old * (1 - share))
        return made
