"""torch.distributed: what processes that run one script exchange, in groups of all or of some of them.

Every exchange is an operator of the device's own engine, which runs where it is called: all ranks of a group come to the same ones in the
same order, whatever else each computes."""

import os
import warnings

import torch
from torch import _C

_state = {"world": None, "backend": None, "groups": 0}
_default_timeout = 1800.0


class ReduceOp:
    SUM, AVG, PRODUCT, MIN, MAX, BAND, BOR, BXOR, PREMUL_SUM = "SUM", "AVG", "PRODUCT", "MIN", "MAX", "BAND", "BOR", "BXOR", "PREMUL_SUM"


reduce_op = ReduceOp
_OPS = {"SUM": "sum", "AVG": "mean", "PRODUCT": "prod", "MIN": "min", "MAX": "max"}


class ProcessGroup:
    """Some of the processes, by their numbers among all, in the order of the group."""

    def __init__(self, name, ranks, rank):
        self._name, self._ranks, self._rank = name, ranks, rank

    def rank(self):
        return self._rank

    def size(self):
        return len(self._ranks)

    @property
    def group_name(self):
        return self._name

    def name(self):
        return _state["backend"]


class GroupMember:
    WORLD = None
    NON_GROUP_MEMBER = -100


group = GroupMember


class Work:
    """An exchange that is done: it was run where it was called."""

    def wait(self, timeout=None):
        return True

    def is_completed(self):
        return True

    is_success = is_completed


def is_available():
    return True


def is_initialized():
    return _state["world"] is not None


def is_nccl_available():
    return torch.cuda.is_available()


def is_gloo_available():
    return True


def is_mpi_available():
    return False


is_torchelastic_launched = is_mpi_available


def get_default_backend_for_device(device):
    return "nccl" if torch.device(device).type == "cuda" else "gloo"


def _seconds(timeout):
    return _default_timeout if timeout is None else timeout.total_seconds()


def init_process_group(backend=None, init_method=None, timeout=None, world_size=-1, rank=-1, store=None, group_name="", **kwargs):
    if is_initialized():
        raise ValueError("trying to initialize the default process group twice!")
    if store is not None:
        raise NotImplementedError("init_process_group(store=..): ranks find one another at MASTER_ADDR:MASTER_PORT, or by init_method='tcp://..'")
    place = None
    if init_method is not None and init_method != "env://":
        if not init_method.startswith("tcp://"):
            raise NotImplementedError(f"init_process_group(init_method={init_method!r}): env:// and tcp://host:port are there")
        place = init_method[len("tcp://"):].split("/")[0].split("?")[0]
    rank, size = _C.join_world(rank, world_size, place, _seconds(timeout))
    _state["backend"] = backend or "gloo"
    _state["world"] = GroupMember.WORLD = ProcessGroup("world", list(range(size)), rank)


def _world():
    world = _state["world"]
    if world is None:
        raise ValueError("Default process group has not been initialized, please make sure to call init_process_group.")
    return world


_needed = _get_default_group = _world


def destroy_process_group(group=None):
    world = _world()
    if group is not None and group is not world:
        return
    _state["world"] = GroupMember.WORLD = None
    if world.size() > 1:
        _C.leave_world()


def _is_outside(group):
    return group is not None and group == GroupMember.NON_GROUP_MEMBER


def _of(group, what):
    """The group that is meant; nothing where this process is not in it."""
    if _is_outside(group):
        rank = -1 if _state["world"] is None else _state["world"].rank()
        warnings.warn(f"Running {what} on global rank {rank} which does not belong to the given group.", stacklevel=3)
        return None
    return group or _world()


def get_rank(group=None):
    if _is_outside(group):
        return -1
    return (group or _world()).rank()


def get_world_size(group=None):
    if _is_outside(group):
        return -1
    return (group or _world()).size()


def get_backend(group=None):
    if _is_outside(group):
        raise ValueError("Invalid process group specified")
    _world()
    return _state["backend"]


def get_node_local_rank(fallback_rank=None):
    if "LOCAL_RANK" in os.environ:
        return int(os.environ["LOCAL_RANK"])
    if fallback_rank is not None:
        return int(fallback_rank)
    raise RuntimeError("LOCAL_RANK is not in the environment. Consider passing fallback_rank to allow `get_node_local_rank` to work, "
                       "assuming you are not running in a multi-device context and want the code to run locally instead.")


def get_process_group_ranks(group):
    return list((group or _world())._ranks)


def get_group_rank(group, global_rank):
    if not isinstance(group, ProcessGroup):
        raise ValueError(f"Group {group} is not registered, please create group with torch.distributed.new_group API")
    if global_rank not in group._ranks:
        raise ValueError(f"Global rank {global_rank} is not part of group {group}")
    return group._ranks.index(global_rank)


def get_global_rank(group, group_rank):
    if not isinstance(group, ProcessGroup):
        raise ValueError(f"Group {group} is not registered, please create group with torch.distributed.new_group API")
    if not 0 <= group_rank < group.size():
        raise ValueError(f"Group rank {group_rank} is not part of group {group}")
    return group._ranks[group_rank]


def new_group(ranks=None, timeout=None, backend=None, pg_options=None, use_local_synchronization=False, group_desc=None, device_id=None,
              sort_ranks=True):
    world = _world()
    size = world.size()
    if use_local_synchronization and size > 1:
        raise NotImplementedError("new_group(use_local_synchronization=True): all ranks call new_group here, as they do without it")
    if ranks is None:
        ranks = list(range(size))
    else:
        try:
            ranks = [r.__index__() for r in ranks]
        except (TypeError, AttributeError) as error:
            raise TypeError("ranks must be a sequence of integers") from error
        if sort_ranks:
            ranks = sorted(ranks)
        if len(set(ranks)) != len(ranks):
            raise ValueError(f"ranks list must not contain duplicate entries, got {ranks}")
        if len(ranks) > size:
            raise ValueError("the new group's world size should be less or equal to the world size set by init_process_group")
        for rank in ranks:
            if rank < 0 or rank >= size:
                raise ValueError(f"Rank {rank} is out of range. Valid ranks are 0 to {size - 1} (world_size={size})")
    _state["groups"] += 1
    name = f"group {_state['groups']}"
    if not ranks:
        return GroupMember.NON_GROUP_MEMBER
    rank = 0 if size == 1 else _C.split_group(world._name, name, ranks)
    return GroupMember.NON_GROUP_MEMBER if rank is None else ProcessGroup(name, ranks, rank)


def new_subgroups_by_enumeration(ranks_per_subgroup_list, timeout=None, backend=None, pg_options=None, group_desc=None):
    if not ranks_per_subgroup_list:
        raise ValueError("The arg 'ranks_per_subgroup_list' cannot be empty")
    subgroups, own, seen = [], None, {}
    for ranks in ranks_per_subgroup_list:
        subgroup = new_group(ranks)
        subgroups.append(subgroup)
        for rank in ranks:
            if rank in seen:
                raise ValueError(f"Rank {rank} has appeared in both subgroup {seen[rank]} and {ranks}")
            seen[rank] = ranks
            if rank == get_rank():
                own = subgroup
    return own, subgroups


def new_subgroups(group_size=None, group=None, timeout=None, backend=None, pg_options=None, group_desc=None):
    size = get_world_size()
    if group_size is None:
        group_size = int(os.environ.get("LOCAL_WORLD_SIZE", size))
    if group_size <= 0:
        raise ValueError(f"The arg 'group_size' ({group_size}) must be positive")
    if size < group_size:
        raise ValueError(f"The arg 'group_size' ({group_size}) must not exceed the world size ({size})")
    if size % group_size != 0:
        raise ValueError(f"The world size ({size}) must be divisible by 'group_size={group_size}'")
    return new_subgroups_by_enumeration([list(range(i, i + group_size)) for i in range(0, size, group_size)])


def _exchange(group, name, tensor, **how):
    """What an exchange gives of a tensor."""
    if group.size() == 1:
        return tensor.detach().clone()
    return _C.exchange(name, tensor.detach(), group=group._name, ranks=group.size(), **how)


def _op(op):
    name = _OPS.get(str(op).upper())
    if name is None:
        raise NotImplementedError(f"torch.distributed: ReduceOp.{op} is not there; sums, means, products, minima and maxima are")
    return name


def _done(async_op):
    return Work() if async_op else None


def _root(group, root, group_root, what):
    """The rank within the group of a process that is named by its number among all, or in the group."""
    if root is not None and group_root is not None:
        raise ValueError(f"Can't specify both group_{what} and {what}")
    if group_root is not None:
        if not 0 <= group_root < group.size():
            raise ValueError(f"Group rank {group_root} is not part of group {group}")
        return group_root
    return get_group_rank(group, 0 if root is None else root)


def _rows(group, name, tensors, most, **how):
    """Exchanges tensors as rows of one, filled up to `most` elements each."""
    rows = [t.detach().reshape(-1) for t in tensors]
    rows = [r if r.numel() == most else torch.cat([r, r.new_zeros(most - r.numel())]) for r in rows]
    return _exchange(group, name, torch.stack(rows), **how)


def _same_type(*tensors):
    types = {t.dtype for t in tensors}
    if len(types) > 1:
        raise ValueError("Invalid usage of tensors with different dtypes" + "Found " + ", ".join(str(t.dtype) for t in tensors))


@torch.no_grad()
def all_reduce(tensor, op=ReduceOp.SUM, group=None, async_op=False):
    group = _of(group, "all_reduce")
    if group is not None:
        tensor.copy_(_exchange(group, "all_reduce", tensor, op=_op(op)))
        return _done(async_op)


@torch.no_grad()
def broadcast(tensor, src=None, group=None, async_op=False, group_src=None):
    group = _of(group, "broadcast")
    if group is not None:
        tensor.copy_(_exchange(group, "broadcast", tensor, src=_root(group, src, group_src, "src")))
        return _done(async_op)


@torch.no_grad()
def reduce(tensor, dst=None, op=ReduceOp.SUM, group=None, async_op=False, group_dst=None):
    group = _of(group, "reduce")
    if group is not None:
        root = _root(group, dst, group_dst, "dst")
        summed = _exchange(group, "all_reduce", tensor, op=_op(op))
        if group.rank() == root:
            tensor.copy_(summed)
        return _done(async_op)


def _gathered(group, tensors, tensor):
    """All ranks' tensors, of the shapes of those of a list: a rank has another shape where the others' lists say so."""
    if len(tensors) != group.size():
        raise ValueError(f"ProcessGroupGloo::allgather: invalid output tensor list at index 0 (expected length {group.size()}, got {len(tensors)})")
    if tensors[group.rank()].numel() != tensor.numel():
        raise ValueError(f"all_gather: rank {group.rank()} gives {list(tensor.shape)}, where its list has {list(tensors[group.rank()].shape)}")
    rows = _rows(group, "all_gather", [tensor], max(t.numel() for t in tensors))
    return [rows[i, :t.numel()].reshape(t.shape) for i, t in enumerate(tensors)]


@torch.no_grad()
def all_gather(tensor_list, tensor, group=None, async_op=False):
    _same_type(tensor, *tensor_list)
    group = _of(group, "all_gather")
    if group is not None:
        for to, made in zip(tensor_list, _gathered(group, tensor_list, tensor)):
            to.copy_(made)
        return _done(async_op)


@torch.no_grad()
def all_gather_into_tensor(output_tensor, input_tensor, group=None, async_op=False):
    _same_type(output_tensor, input_tensor)
    group = _of(group, "all_gather_into_tensor")
    if group is not None:
        if output_tensor.numel() != group.size() * input_tensor.numel():
            raise ValueError("output tensor size must be equal to world_size times input tensor size")
        output_tensor.copy_(_rows(group, "all_gather", [input_tensor], input_tensor.numel()).reshape(output_tensor.shape))
        return _done(async_op)


@torch.no_grad()
def reduce_scatter(output, input_list, op=ReduceOp.SUM, group=None, async_op=False):
    _same_type(output, *input_list)
    group = _of(group, "reduce_scatter")
    if group is not None:
        if len(input_list) != group.size():
            raise ValueError(f"reduce_scatter: {len(input_list)} inputs for {group.size()} ranks")
        most = max(t.numel() for t in input_list)
        row = _rows(group, "reduce_scatter", input_list, most, op=_op(op))
        output.copy_(row.reshape(-1)[:output.numel()].reshape(output.shape))
        return _done(async_op)


@torch.no_grad()
def reduce_scatter_tensor(output, input, op=ReduceOp.SUM, group=None, async_op=False):
    _same_type(output, input)
    group = _of(group, "reduce_scatter_tensor")
    if group is not None:
        if input.numel() != group.size() * output.numel():
            raise ValueError("input tensor must be the same size as output size times world size")
        rows = input.detach().reshape(group.size(), -1)
        output.copy_(_exchange(group, "reduce_scatter", rows, op=_op(op)).reshape(output.shape))
        return _done(async_op)


@torch.no_grad()
def gather(tensor, gather_list=None, dst=None, group=None, async_op=False, group_dst=None):
    group = _of(group, "gather")
    if group is None:
        return
    is_root = group.rank() == _root(group, dst, group_dst, "dst")
    if is_root and not gather_list:
        raise ValueError("Argument ``gather_list`` must be specified on destination rank.")
    if not is_root and gather_list:
        raise ValueError("Argument ``gather_list`` must NOT be specified on non-destination ranks.")
    made = _rows(group, "all_gather", [tensor], tensor.numel())
    if is_root:
        for to, row in zip(gather_list, made):
            to.copy_(row.reshape(to.shape))
    return _done(async_op)


@torch.no_grad()
def scatter(tensor, scatter_list=None, src=None, group=None, async_op=False, group_src=None):
    group = _of(group, "scatter")
    if group is None:
        return
    root = _root(group, src, group_src, "src")
    if group.rank() == root and not scatter_list:
        raise ValueError("Argument ``scatter_list`` must be specified on source rank.")
    if group.rank() != root and scatter_list:
        raise ValueError("Argument ``scatter_list`` must NOT be specified on non-source ranks.")
    parts = scatter_list or [torch.zeros_like(tensor) for _ in range(group.size())]
    tensor.copy_(_rows(group, "all_to_all", parts, tensor.numel())[root].reshape(tensor.shape))
    return _done(async_op)


def _table(group, sizes):
    """The most that a rank gives to one, and what each gives to this one: known on every rank before anything else moves."""
    table = _exchange(group, "all_gather", torch.tensor([sizes])).tolist()
    return max(1, max(max(row) for row in table)), [row[group.rank()] for row in table]


def _all_to_all(group, inputs, outputs):
    """Each rank's part of all ranks' inputs, which have a size of their own each."""
    most, awaited = _table(group, [t.numel() for t in inputs])
    have = [t.numel() for t in outputs]
    if have != awaited:
        r = [a == b for a, b in zip(have, awaited)].index(False)
        raise RuntimeError(f"all_to_all: rank {r} of the group sends {awaited[r]} elements to rank {group.rank()}, which awaits {have[r]}")
    made = _rows(group, "all_to_all", inputs, most)
    for i, to in enumerate(outputs):
        if to.numel():
            to.copy_(made[i, :to.numel()].reshape(to.shape))


@torch.no_grad()
def all_to_all(output_tensor_list, input_tensor_list, group=None, async_op=False):
    group = _of(group, "all_to_all")
    if group is not None:
        _same_type(*output_tensor_list, *input_tensor_list)
        if len(output_tensor_list) != group.size() or len(input_tensor_list) != group.size():
            raise ValueError("Number of tensor splits not equal to group size")
        _all_to_all(group, input_tensor_list, output_tensor_list)
        return _done(async_op)


def _parts(tensor, sizes, ranks):
    """A tensor's rows for each rank, of sizes that may differ."""
    if not sizes:
        if tensor.size(0) % ranks:
            raise RuntimeError("Tensor's dim 0 does not divide equally across group size")
        sizes = [tensor.size(0) // ranks] * ranks
    if len(sizes) != ranks:
        raise RuntimeError("Number of tensor splits not equal to group size")
    if sum(sizes) != tensor.size(0):
        raise RuntimeError("Split sizes doesn't match total dim 0 size")
    return list(tensor.split(sizes))


@torch.no_grad()
def all_to_all_single(output, input, output_split_sizes=None, input_split_sizes=None, group=None, async_op=False):
    group = _of(group, "all_to_all_single")
    if group is None:
        return
    _same_type(output, input)
    n = group.size()
    inputs, outputs = _parts(input.detach(), input_split_sizes, n), _parts(output, output_split_sizes, n)
    # Where one rank's parts differ all ranks give their sizes; equal ones need not be told.
    if output_split_sizes or input_split_sizes:
        _all_to_all(group, inputs, outputs)
    else:
        output.copy_(_exchange(group, "all_to_all", input).reshape(output.shape))
    return _done(async_op)


def barrier(group=None, async_op=False, device_ids=None, timeout=None):
    group = _of(group, "barrier")
    if group is not None:
        # Its value is read: whoever goes on has met the others.
        _exchange(group, "all_reduce", torch.zeros(1), op="sum").item()
        return _done(async_op)


def monitored_barrier(group=None, timeout=None, wait_all_ranks=False):
    barrier(group)


def _bytes_of(obj):
    import pickle
    return torch.tensor(list(pickle.dumps(obj)), dtype=torch.uint8)


def _object_of(tensor):
    import pickle
    return pickle.loads(bytes(tensor.tolist()))


def _all_objects(group, obj):
    """The objects of all ranks."""
    own = _bytes_of(obj)
    sizes = _exchange(group, "all_gather", torch.tensor([own.numel()])).tolist()
    rows = _rows(group, "all_gather", [own], max(sizes))
    return [_object_of(rows[i, :n]) for i, n in enumerate(sizes)]


@torch.no_grad()
def all_gather_object(object_list, obj, group=None, weights_only=False):
    group = _of(group, "all_gather_object")
    if group is not None:
        for i, made in enumerate(_all_objects(group, obj)):
            object_list[i] = made


@torch.no_grad()
def gather_object(obj, object_gather_list=None, dst=None, group=None, group_dst=None, weights_only=False):
    group = _of(group, "gather_object")
    if group is not None:
        made = _all_objects(group, obj)
        if group.rank() == _root(group, dst, group_dst, "dst"):
            if not object_gather_list:
                raise ValueError("Argument ``object_gather_list`` must be specified on destination rank.")
            object_gather_list[:] = made


@torch.no_grad()
def broadcast_object_list(object_list, src=None, group=None, device=None, group_src=None, weights_only=False):
    group = _of(group, "broadcast_object_list")
    if group is not None:
        root = _root(group, src, group_src, "src")
        own = _bytes_of(list(object_list) if group.rank() == root else None)
        size = _exchange(group, "broadcast", torch.tensor([own.numel()]), src=root).tolist()[0]
        own = own if group.rank() == root else torch.zeros(size, dtype=torch.uint8)
        object_list[:] = _object_of(_exchange(group, "broadcast", own, src=root))


@torch.no_grad()
def scatter_object_list(scatter_object_output_list, scatter_object_input_list=None, src=None, group=None, group_src=None, weights_only=False):
    group = _of(group, "scatter_object_list")
    if group is not None:
        root = _root(group, src, group_src, "src")
        given = list(scatter_object_input_list or []) if group.rank() == root else []
        scatter_object_output_list[0] = _all_objects(group, given)[root][group.rank()]


def _between(*args, **kwargs):
    raise NotImplementedError("torch.distributed: nothing is sent between two ranks alone; use broadcast or all_to_all in a group of both")


send = recv = isend = irecv = batch_isend_irecv = P2POp = _between


def __getattr__(name):
    if name in ("DeviceMesh", "init_device_mesh"):
        from torch.distributed import device_mesh
        return getattr(device_mesh, name)
    if name.startswith("__"):
        raise AttributeError(f"module 'torch.distributed' has no attribute '{name}'")
    import importlib
    try:
        return importlib.import_module(f"torch.distributed.{name}")
    except ModuleNotFoundError:
        raise NotImplementedError(f"torch.distributed.{name} is not there") from None
