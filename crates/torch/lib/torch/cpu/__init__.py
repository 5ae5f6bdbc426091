"""torch.cpu: the host, which is always there."""

import contextlib

from torch.cpu import amp


def is_available():
    return True


def device_count():
    return 1


def current_device():
    return "cpu"


def set_device(device):
    pass


def synchronize(device=None):
    pass


def is_initialized():
    return True


class Stream:
    """What is called runs in its order: there is nothing beside it to wait for."""

    def __init__(self, priority=-1):
        pass

    def wait_stream(self, stream):
        pass


def current_stream(device=None):
    return Stream()


def stream(stream):
    return contextlib.nullcontext()
