"""Modules on several devices: a run has one, so they call what they hold."""

from torch.nn.modules.module import Module

__all__ = ["DataParallel"]


class DataParallel(Module):
    def __init__(self, module, device_ids=None, output_device=None, dim=0):
        super().__init__()
        self.module = module
        self.device_ids = [] if device_ids is None else list(device_ids)

    def forward(self, *inputs, **kwargs):
        return self.module(*inputs, **kwargs)
