"""Mixed precision: the regions are those of the operator table, whose lists are PyTorch's for CUDA."""

from torch import _C
from torch._C import Tensor
from torch.amp.grad_scaler import GradScaler
import functools
import warnings


def is_autocast_available(device_type):
    return device_type in ("cpu", "cuda")


class autocast:
    def __init__(self, device_type, dtype=None, enabled=True, cache_enabled=None):
        import torch
        if not isinstance(device_type, str):
            raise ValueError(f"Expected `device_type` of type `str`, got: `{type(device_type)}`")
        self.device, self._enabled = device_type, enabled
        if dtype is None:
            dtype = _C.float16 if device_type == "cuda" else _C.bfloat16
        self.fast_dtype = dtype
        if enabled and device_type == "cuda" and not torch.cuda.is_available():
            warnings.warn("User provided device_type of 'cuda', but CUDA is not available. Disabling")
            self._enabled = False
        if self._enabled and dtype not in (_C.bfloat16, _C.float16):
            warnings.warn(f"In autocast, but the target dtype {dtype} is not supported. Disabling autocast.")
            self._enabled = False

    # The regions that a call is in, outermost first.
    _open = []

    def __enter__(self):
        autocast._open.append(self)
        _C.enter_autocast(self.fast_dtype if self._enabled else _C.float32)
        return self

    def __exit__(self, *exc):
        autocast._open.pop()
        _C.leave_autocast()
        return False

    def __call__(self, function):
        @functools.wraps(function)
        def wrapped(*args, **kwargs):
            with self:
                return function(*args, **kwargs)
        return wrapped


def is_autocast_enabled(device_type="cuda"):
    """Whether the innermost region for a kind of device casts."""
    regions = [r for r in autocast._open if r.device == device_type]
    return bool(regions) and regions[-1]._enabled


def get_autocast_dtype(device_type):
    regions = [r for r in autocast._open if r.device == device_type and r._enabled]
    return regions[-1].fast_dtype if regions else _C.float16 if device_type == "cuda" else _C.bfloat16


def custom_fwd(fwd=None, *, device_type="cuda", cast_inputs=None):
    if fwd is None:
        return functools.partial(custom_fwd, device_type=device_type, cast_inputs=cast_inputs)

    @functools.wraps(fwd)
    def wrapped(*args, **kwargs):
        if cast_inputs is None:
            return fwd(*args, **kwargs)
        with autocast(device_type, enabled=False):
            cast = [a.to(cast_inputs) if isinstance(a, Tensor) and a.dtype.is_floating_point else a for a in args]
            return fwd(*cast, **kwargs)
    return wrapped


def custom_bwd(bwd=None, *, device_type="cuda"):
    if bwd is None:
        return functools.partial(custom_bwd, device_type=device_type)
    return bwd
