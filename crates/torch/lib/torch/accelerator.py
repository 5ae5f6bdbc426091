"""torch.accelerator: it answers for the device in use."""

import torch


def is_available():
    return torch._here.type != "cpu"


def current_accelerator(check_available=False):
    return torch._here if is_available() else None


def device_count():
    return 1 if is_available() else 0


def current_device_index():
    return 0


def set_device_index(device):
    torch._place(device)


def synchronize(device=None):
    pass


def empty_cache():
    pass
