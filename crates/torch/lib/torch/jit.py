"""torch.jit: scripts run as they are, so what marks functions for the compiler of TorchScript changes nothing."""

from torch import _C


def is_scripting():
    return False


def is_tracing():
    return False


def ignore(fn=None, drop=False, **kwargs):
    return fn if callable(fn) else (lambda f: f)


def unused(fn):
    return fn


def export(fn):
    return fn


def script(obj=None, **kwargs):
    return obj


def _overload_method(fn):
    return fn


class _Final:
    def __getitem__(self, item):
        return item


Final = _Final()


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(f"module 'torch.jit' has no attribute '{name}'")
    known = [n for n in globals() if not n.startswith("_")]
    raise NotImplementedError(f"torch.jit.{name} is not there; the nearest name is torch.jit.{_C.nearest(name, known)}")
