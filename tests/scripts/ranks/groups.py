import os
import warnings

import torch
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh

dist.init_process_group("gloo")
rank, size = dist.get_rank(), dist.get_world_size()
print(rank, size, dist.is_initialized(), dist.get_backend())

# Groups of some: all ranks make all of them.
even = dist.new_group([2, 0])
odd = dist.new_group([1, 3])
last = dist.new_group([3])
own = even if rank % 2 == 0 else odd
other = odd if rank % 2 == 0 else even
print(dist.get_rank(own), dist.get_world_size(own), dist.get_process_group_ranks(own), dist.get_rank(other), dist.get_world_size(other))
print(other == dist.GroupMember.NON_GROUP_MEMBER, last == dist.GroupMember.NON_GROUP_MEMBER)
print(dist.get_group_rank(own, rank), dist.get_global_rank(own, 1), dist.get_process_group_ranks(None))

t = torch.tensor([1.0, 2.0]) * (rank + 1)
dist.all_reduce(t, group=own)
print(t)
with warnings.catch_warnings(record=True) as told:
    warnings.simplefilter("always")
    print(dist.all_reduce(t, group=other), [str(w.message) for w in told])
dist.all_reduce(t, op=dist.ReduceOp.MAX)
print(t)
dist.all_reduce(t, op=dist.ReduceOp.PRODUCT, group=own)
print(t)

t = torch.tensor([rank, rank * 10])
dist.broadcast(t, src=own.size() + rank % 2, group=own)
print(t)
dist.broadcast(t, group=own, group_src=0)
print(t, t.dtype)
parts = [torch.zeros(2, 2) for _ in range(2)]
dist.all_gather(parts, torch.full((2, 2), float(rank)), group=own)
print(parts)
whole = torch.zeros(4, dtype=torch.int64)
dist.all_gather_into_tensor(whole, torch.tensor([rank, -rank]), group=own)
print(whole)
whole = torch.zeros(4, 1)
dist.all_gather_into_tensor(whole, torch.tensor([[float(rank)]]))
print(whole.tolist())
one = torch.zeros(2)
dist.reduce_scatter(one, [torch.arange(2.0) + 10 * i + rank for i in range(4)])
print(one)
one = torch.zeros(3)
dist.reduce_scatter_tensor(one, torch.arange(6.0) * (rank + 1), group=own)
print(one)
t = torch.tensor([float(rank + 1)])
dist.reduce(t, dst=own.size() + rank % 2, group=own)
print(t if rank >= 2 else "not the root")
made = [torch.zeros(2) for _ in range(size)] if rank == 1 else None
dist.gather(torch.tensor([rank, rank + 0.5]), made, dst=1)
print(made)
t = torch.zeros(2)
dist.scatter(t, [torch.tensor([float(i), 7.0]) for i in range(size)] if rank == 2 else None, src=2)
print(t)
work = dist.all_reduce(t, async_op=True)
print(work.wait(), t)

# Objects, and what rank 0 knows.
things = [None] * size
dist.all_gather_object(things, {"rank": rank, "text": "x" * rank})
print(things)
things = [None] * own.size()
dist.all_gather_object(things, (rank, own.size()), group=own)
print(things)
told = [{"lr": 0.1}, rank] if rank == 0 else [None, None]
dist.broadcast_object_list(told, src=0)
print(told)
made = [None]
dist.scatter_object_list(made, [f"for {i}" for i in range(size)] if rank == 3 else None, src=3)
print(made)
dist.barrier()
dist.barrier(group=own)

# A grid: replicas across, shards within.
mesh = init_device_mesh("cpu", (2, 2), mesh_dim_names=("dp", "tp"))
print(mesh, mesh.shape, mesh.ndim, mesh.size(), mesh.size(0), mesh.mesh.tolist(), mesh.get_coordinate())
dp, tp = mesh["dp"], mesh["tp"]
print(dp, tp.mesh.tolist(), dp.get_local_rank(), tp.get_local_rank(), mesh.get_local_rank("tp"))
print(dist.get_process_group_ranks(dp.get_group()), dist.get_process_group_ranks(mesh.get_group("tp")), len(mesh.get_all_groups()))
t = torch.tensor([float(rank)])
dist.all_reduce(t, group=dp.get_group())
print(t)
dist.all_reduce(t, group=mesh.get_group(1))
print(t)
line = init_device_mesh("cpu", (4,))
print(line, line.get_rank(), dist.get_process_group_ranks(line.get_group()), mesh["dp", "tp"] == mesh)


def refused(f):
    try:
        f()
    except Exception as e:
        print(type(e).__name__, str(e).split(" <")[0])


refused(lambda: dist.new_group([0, 0]))
refused(lambda: dist.new_group([0, 4]))
refused(lambda: dist.new_group([0, 1, 2, 3, 1]))
refused(lambda: dist.get_group_rank(own, (rank + 1) % size))
refused(lambda: dist.get_global_rank(own, 5))
refused(lambda: mesh["pp"])
refused(lambda: mesh["tp", "dp"])
refused(lambda: line["dp"])
refused(lambda: mesh.get_local_rank())
refused(lambda: mesh.get_group("pp"))
refused(lambda: init_device_mesh("cpu", (2, 2), mesh_dim_names=("a", "a")))
refused(lambda: init_device_mesh("cpu", (2, 2), mesh_dim_names=("a",)))
refused(lambda: init_device_mesh("cpu", (2, 4)))
refused(lambda: init_device_mesh("cpu:0", (2, 2)))
refused(lambda: dist.init_process_group("gloo"))

mine, all_of_them = dist.new_subgroups(2)
print(dist.get_process_group_ranks(mine), len(all_of_them))
dist.destroy_process_group()
refused(lambda: dist.get_rank())
