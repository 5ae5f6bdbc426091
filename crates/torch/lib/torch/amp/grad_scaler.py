"""Scaled losses, so that small gradients survive f16."""

from torch import _C
from torch.autograd import no_grad
import warnings

_ops = _C._ops


class GradScaler:
    def __init__(self, device="cuda", init_scale=2.0 ** 16, growth_factor=2.0, backoff_factor=0.5, growth_interval=2000, enabled=True):
        import torch
        self._enabled = enabled
        if enabled and device == "cuda" and not torch.cuda.is_available():
            warnings.warn("torch.cuda.amp.GradScaler is enabled, but CUDA is not available.  Disabling.")
            self._enabled = False
        self._device, self._init_scale = device, init_scale
        self._growth_factor, self._backoff_factor, self._growth_interval = growth_factor, backoff_factor, growth_interval
        self._scale, self._growth_tracker = None, None
        # Pairs of an optimizer's id and whether its gradients are not finite. No dictionary: one that is filled and replaced in each turn of a
        # loop is another one each time, and such turns are not repeated.
        self._found = ()

    def _found_of(self, optimizer):
        for known, found in self._found:
            if known == id(optimizer):
                return found

    def _tensors(self):
        if self._scale is None:
            self._scale = _C.full((), float(self._init_scale), _C.float32)
            self._growth_tracker = _C.full((), 0, _C.int32)

    def scale(self, outputs):
        if not self._enabled:
            return outputs
        self._tensors()
        if isinstance(outputs, (list, tuple)):
            return type(outputs)([self.scale(o) for o in outputs])
        return outputs * self._scale.to(outputs.dtype)

    @no_grad()
    def unscale_(self, optimizer):
        if not self._enabled:
            return
        if self._found_of(optimizer) is not None:
            raise RuntimeError("unscale_() has already been called on this optimizer since the last update().")
        self._tensors()
        grads = [p.grad for group in optimizer.param_groups for p in group["params"] if p.grad is not None]
        made = _ops["amp_unscale"](self._scale, grads) if grads else [_C.full((), 0.0, _C.float32)]
        for g, value in zip(grads, made):
            g.copy_(value)
        self._found += ((id(optimizer), made[-1]),)

    def step(self, optimizer, *args, **kwargs):
        if not self._enabled:
            return optimizer.step(*args, **kwargs)
        if "closure" in kwargs:
            raise RuntimeError("Closure use is not currently supported if GradScaler is enabled.")
        if self._found_of(optimizer) is None:
            self.unscale_(optimizer)
        if not self._found_of(optimizer).item():
            return optimizer.step(*args, **kwargs)

    @no_grad()
    def update(self, new_scale=None):
        if not self._enabled:
            return
        self._tensors()
        if new_scale is not None:
            self._scale.fill_(new_scale)
        else:
            if not self._found:
                raise RuntimeError("No inf checks were recorded prior to update.")
            (_, bad), *others = self._found
            for _, other in others:
                bad = _ops["maximum"](bad, other)
            self._scale, self._growth_tracker = _ops["amp_update_scale"](
                self._scale, self._growth_tracker, bad, growth_factor=self._growth_factor, backoff_factor=self._backoff_factor,
                growth_interval=self._growth_interval)
        self._found = ()

    def get_scale(self):
        if not self._enabled:
            return 1.0
        return self._init_scale if self._scale is None else self._scale.item()

    def is_enabled(self):
        return self._enabled

    def get_growth_factor(self):
        return self._growth_factor

    def get_backoff_factor(self):
        return self._backoff_factor

    def get_growth_interval(self):
        return self._growth_interval

    def state_dict(self):
        if not self._enabled:
            return {}
        return {
            "scale": self.get_scale(), "growth_factor": self._growth_factor, "backoff_factor": self._backoff_factor,
            "growth_interval": self._growth_interval,
            "_growth_tracker": 0 if self._growth_tracker is None else self._growth_tracker.item(),
        }

    def load_state_dict(self, state_dict):
        if not self._enabled:
            return
        if not state_dict:
            raise RuntimeError("The source state dict is empty, possibly because it was saved from a disabled instance of GradScaler.")
        self._init_scale = state_dict["scale"]
        self._growth_factor, self._backoff_factor = state_dict["growth_factor"], state_dict["backoff_factor"]
        self._growth_interval = state_dict["growth_interval"]
        self._scale = _C.full((), float(self._init_scale), _C.float32)
        self._growth_tracker = _C.full((), state_dict["_growth_tracker"], _C.int32)
