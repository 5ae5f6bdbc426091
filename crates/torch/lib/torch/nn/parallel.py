"""Modules on several devices: a run has one, so they call what they hold."""

from torch.nn.modules.module import Module

from contextlib import nullcontext

__all__ = ["DataParallel", "DistributedDataParallel"]


class DataParallel(Module):
    def __init__(self, module, device_ids=None, output_device=None, dim=0):
        super().__init__()
        self.module = module
        self.device_ids = [] if device_ids is None else list(device_ids)

    def forward(self, *inputs, **kwargs):
        return self.module(*inputs, **kwargs)


class DistributedDataParallel(DataParallel):
    """In a world of one process gradients are complete as they are."""

    def __init__(self, module, device_ids=None, output_device=None, dim=0, **kwargs):
        from torch import distributed
        distributed._needed()
        super().__init__(module, device_ids, output_device, dim)
        self.require_backward_grad_sync = True

    def no_sync(self):
        return nullcontext()
