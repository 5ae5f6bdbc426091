"""Modules on several devices. One run has one device, so DataParallel calls what it holds; ranks have a device each."""

from torch.nn.modules.module import Module

from contextlib import contextmanager

__all__ = ["DataParallel", "DistributedDataParallel"]


class DataParallel(Module):
    def __init__(self, module, device_ids=None, output_device=None, dim=0):
        super().__init__()
        self.module = module
        self.device_ids = [] if device_ids is None else list(device_ids)

    def forward(self, *inputs, **kwargs):
        return self.module(*inputs, **kwargs)


class DistributedDataParallel(DataParallel):
    """All ranks begin with rank 0's values; once a backward pass has given all gradients, they are averaged, as one."""

    def __init__(self, module, device_ids=None, output_device=None, dim=0, broadcast_buffers=True, init_sync=True, process_group=None,
                 bucket_cap_mb=None, find_unused_parameters=False, **kwargs):
        from torch import distributed
        super().__init__(module, device_ids, output_device, dim)
        self.process_group = distributed._of(process_group, "DistributedDataParallel")
        self.require_backward_grad_sync, self.broadcast_buffers = True, broadcast_buffers
        self._reduced, self._arrived = [], 0
        if self.process_group is None or self.process_group.size() == 1:
            return
        if find_unused_parameters:
            raise NotImplementedError("DistributedDataParallel(find_unused_parameters=True): give every parameter a gradient in each step")
        self._reduced = [p for p in module.parameters() if p.requires_grad]
        if not self._reduced:
            raise RuntimeError("DistributedDataParallel is not needed when a module doesn't have any parameters that require a gradient.")
        if init_sync:
            self._send([*module.parameters(), *module.buffers()])
        for p in self._reduced:
            p.register_post_accumulate_grad_hook(self._arrive)

    def _send(self, tensors):
        from torch import distributed
        for t in tensors:
            distributed.broadcast(t, group=self.process_group, group_src=0)

    def _arrive(self, parameter):
        if not self.require_backward_grad_sync:
            return
        self._arrived += 1
        if self._arrived < len(self._reduced):
            return
        self._arrived = 0
        import torch
        from torch import distributed
        with torch.no_grad():
            for dtype in dict.fromkeys(p.grad.dtype for p in self._reduced):
                grads = [p.grad for p in self._reduced if p.grad.dtype == dtype]
                flat = torch.cat([g.reshape(-1) for g in grads])
                distributed.all_reduce(flat, distributed.ReduceOp.AVG, self.process_group)
                for g, mean in zip(grads, flat.split([g.numel() for g in grads])):
                    g.copy_(mean.reshape(g.shape))

    def forward(self, *inputs, **kwargs):
        import torch
        if self._reduced and torch.is_grad_enabled() and self.require_backward_grad_sync:
            if self._arrived:
                raise RuntimeError("Expected to have finished reduction in the prior iteration before starting a new one. This error "
                                   "indicates that your module has parameters that were not used in producing loss.")
            if self.broadcast_buffers and self.training:
                self._send(self.module.buffers())
        return self.module(*inputs, **kwargs)

    @contextmanager
    def no_sync(self):
        before, self.require_backward_grad_sync = self.require_backward_grad_sync, False
        try:
            yield
        finally:
            self.require_backward_grad_sync = before
