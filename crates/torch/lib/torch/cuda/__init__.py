"""torch.cuda: it answers for the device in use."""

from _missing import names
from torch._devices import define as _define, needed as _needed
import time as _time

_define("cuda", globals())


class Event:
    """A moment: operators run in order, so it is when the host asks."""

    def __init__(self, enable_timing=False, blocking=False, interprocess=False):
        _needed("cuda")
        self._at = None

    def record(self, stream=None):
        self._at = _time.perf_counter()

    def synchronize(self):
        pass

    def wait(self, stream=None):
        pass

    def query(self):
        return True

    def elapsed_time(self, end_event):
        return (end_event._at - self._at) * 1000.0


class Stream:
    def __init__(self, device=None, priority=0):
        _needed("cuda")

    def synchronize(self):
        pass

    def wait_stream(self, stream):
        pass

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        return False


def current_stream(device=None):
    return Stream()


default_stream = current_stream


class device:
    """A run has one device: what is inside the block is on it."""

    def __init__(self, device):
        self.idx = device

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        return False


device_of = device


def get_rng_state_all():
    import torch
    return [torch.get_rng_state()] if is_available() else []


def set_rng_state_all(states):
    import torch
    for state in states[:1]:
        torch.set_rng_state(state)


def ipc_collect():
    pass


def init():
    _needed("cuda")


def can_device_access_peer(device, peer_device):
    return False


def stream(stream):
    return stream


from torch.cuda import amp


_find = names("torch.cuda", globals())


def __getattr__(name):
    import torch
    if name.endswith("Tensor") and hasattr(torch, name):
        kind = getattr(torch, name)
        if is_available():
            return kind

        class Absent(type(kind)):
            def __call__(cls, *args, **kwargs):
                _needed("cuda")

            def __instancecheck__(cls, value):
                return False
        return Absent(name, (), {"__module__": "torch.cuda"})
    return _find(name)
