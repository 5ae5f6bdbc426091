import torch
import torch.distributed as dist

dist.init_process_group("gloo")
rank, size = dist.get_rank(), dist.get_world_size()

# Rank r gives r + i rows to rank i.
given = [rank + i for i in range(size)]
awaited = [i + rank for i in range(size)]
x = torch.arange(float(sum(given) * 2)).reshape(-1, 2) + 100 * rank
y = torch.zeros(sum(awaited), 2)
dist.all_to_all_single(y, x, awaited, given)
print(y.tolist())
# Rows go on to who has asked for them, and come back.
z = torch.zeros_like(x)
dist.all_to_all_single(z, y, given, awaited)
print(torch.equal(x, z))
# Nothing for some.
given = [3 if i == (rank + 1) % size else 0 for i in range(size)]
awaited = [3 if i == (rank - 1) % size else 0 for i in range(size)]
y = torch.zeros(3, dtype=torch.int64)
dist.all_to_all_single(y, torch.tensor([rank, rank, -rank]), awaited, given)
print(y)
even = torch.zeros(4)
dist.all_to_all_single(even, torch.arange(4.0) + 10 * rank)
print(even)
# In a group of some.
halves = [dist.new_group([0, 2]), dist.new_group([1, 3])]
own = halves[rank % 2]
n = dist.get_rank(own)
y = torch.zeros(3 if n == 0 else 5)
dist.all_to_all_single(y, torch.arange(4.0) + 10 * rank, [1, 2] if n == 0 else [3, 2], [1, 3] if n == 0 else [2, 2], group=own)
print(y)


def refused(f):
    try:
        f()
    except Exception as e:
        print(type(e).__name__, str(e).splitlines()[0])


refused(lambda: dist.all_to_all_single(torch.zeros(4), torch.zeros(4), [1, 1, 1], [1, 1, 1, 1]))
refused(lambda: dist.all_to_all_single(torch.zeros(4), torch.zeros(4), [1, 1, 1, 2], [1, 1, 1, 1]))
refused(lambda: dist.all_to_all_single(torch.zeros(5), torch.zeros(5)))
dist.barrier()
dist.destroy_process_group()
