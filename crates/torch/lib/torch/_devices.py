"""Functions that modules about a kind of device have alike: torch.cuda, torch.mps, torch.xpu."""

import collections

from torch import _C


def needed(name):
    import torch
    if torch._here.type != name:
        raise AssertionError(f"Torch not compiled with {name.upper()} enabled")


def define(name, module):
    """Puts the functions for the device `name` into a module's names."""
    import torch

    def is_available():
        return torch._here.type == name

    def is_built():
        return is_available()

    def is_initialized():
        return is_available()

    def device_count():
        return 1 if is_available() else 0

    def current_device():
        needed(name)
        return 0

    def manual_seed(seed):
        pass

    def manual_seed_all(seed):
        pass

    def seed():
        pass

    def empty_cache():
        pass

    def synchronize(device=None):
        needed(name)

    def set_device(device):
        needed(name)
        torch._place(device)

    def get_device_name(device=None):
        needed(name)
        return _C.device_name()

    def absent(what):
        needed(name)
        raise NotImplementedError(f"torch.{name}.{what} is not known here; torch.{name}.get_device_name() and memory_allocated() are")

    def get_device_properties(device=None):
        absent("get_device_properties")

    def get_device_capability(device=None):
        absent("get_device_capability")

    def mem_get_info(device=None):
        absent("mem_get_info")

    def utilization(device=None):
        absent("utilization")

    def get_arch_list():
        return []

    def reset_peak_memory_stats(device=None):
        if is_available():
            _C.reset_peak_memory()

    def memory_allocated(device=None):
        return _C.memory()[0] if is_available() else 0

    def max_memory_allocated(device=None):
        return _C.memory()[1] if is_available() else 0

    def memory_stats(device=None):
        if not is_available():
            return collections.OrderedDict()
        return {"allocated_bytes.all.current": memory_allocated(), "allocated_bytes.all.peak": max_memory_allocated(),
                "reserved_bytes.all.current": memory_allocated(), "reserved_bytes.all.peak": max_memory_allocated()}

    def memory_summary(device=None, abbreviated=False):
        return f"in use: {memory_allocated() / 2 ** 20:.1f} MiB, at most: {max_memory_allocated() / 2 ** 20:.1f} MiB"

    def is_bf16_supported(including_emulation=True):
        return is_available()

    def get_rng_state(device=None):
        return torch.get_rng_state()

    def set_rng_state(state, device=None):
        torch.set_rng_state(state)

    for function in (is_available, is_built, is_initialized, device_count, current_device, manual_seed, manual_seed_all, seed,
                     empty_cache, synchronize, set_device, get_device_name, get_device_properties, get_device_capability,
                     mem_get_info, utilization, get_arch_list, reset_peak_memory_stats, is_bf16_supported, get_rng_state,
                     set_rng_state, memory_allocated, max_memory_allocated, memory_stats, memory_summary):
        module[function.__name__] = function
    # Random numbers are the host's: no device has a state of its own to keep.
    module["_initialized"] = False
    # What is reserved is not told apart from what is in use.
    module["memory_reserved"] = module["memory_cached"] = memory_allocated
    module["max_memory_reserved"] = module["max_memory_cached"] = max_memory_allocated
    module["reset_max_memory_allocated"] = module["reset_max_memory_cached"] = reset_peak_memory_stats
