"""torch.distributed, for a world of one process: scripts that can run on several run as on one."""

import os

_group = None


class ReduceOp:
    SUM, PRODUCT, MIN, MAX, AVG = "SUM", "PRODUCT", "MIN", "MAX", "AVG"


class ProcessGroup:
    """What a group of processes would be, for annotations."""


class _Work:
    def wait(self, timeout=None):
        return True

    def is_completed(self):
        return True


def is_available():
    return True


def is_initialized():
    return _group is not None


def is_nccl_available():
    return False


def is_gloo_available():
    return True


is_mpi_available = is_torchelastic_launched = is_nccl_available


def get_default_backend_for_device(device):
    return "gloo"


def init_process_group(backend=None, init_method=None, timeout=None, world_size=-1, rank=-1, store=None, group_name="", **kwargs):
    global _group
    if _group is not None:
        raise ValueError("trying to initialize the default process group twice!")
    world = int(os.environ.get("WORLD_SIZE", 1)) if world_size < 0 else world_size
    if world != 1:
        raise NotImplementedError(f"torch.distributed: one process runs a script here, not {world}; start it with a world size of 1")
    _group = backend or "gloo"


def _needed():
    if _group is None:
        raise ValueError("Default process group has not been initialized, please make sure to call init_process_group.")


def destroy_process_group(group=None):
    global _group
    _group = None


def get_rank(group=None):
    _needed()
    return 0


def get_world_size(group=None):
    _needed()
    return 1


def get_backend(group=None):
    _needed()
    return _group


def barrier(group=None, async_op=False, device_ids=None):
    _needed()


def _same(tensor, *args, async_op=False, **kwargs):
    """What one process shares with itself is what it had."""
    _needed()
    return _Work() if async_op else None


all_reduce = broadcast = reduce = send = recv = _same


def _copied(output, input, *args, async_op=False, **kwargs):
    _needed()
    output.copy_(input)
    return _Work() if async_op else None


all_gather_into_tensor = reduce_scatter_tensor = all_to_all_single = _copied


def all_gather(tensor_list, tensor, group=None, async_op=False):
    return _copied(tensor_list[0], tensor, async_op=async_op)


def gather(tensor, gather_list=None, dst=0, group=None, async_op=False):
    return _copied(gather_list[0], tensor, async_op=async_op)


def reduce_scatter(output, input_list, op=None, group=None, async_op=False):
    return _copied(output, input_list[0], async_op=async_op)


def scatter(tensor, scatter_list=None, src=0, group=None, async_op=False):
    return _copied(tensor, scatter_list[0], async_op=async_op)


def all_gather_object(object_list, obj, group=None):
    _needed()
    object_list[0] = obj


def broadcast_object_list(object_list, src=0, group=None, device=None):
    _needed()


def new_group(ranks=None, **kwargs):
    _needed()
    return _group


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(f"module 'torch.distributed' has no attribute '{name}'")
    raise NotImplementedError(f"torch.distributed.{name} is not there: a script runs as one process on one device")
