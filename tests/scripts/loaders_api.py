import random
from collections import namedtuple

import numpy as np
import torch
from torch.utils.data import (BatchSampler, ChainDataset, ConcatDataset, DataLoader, Dataset, IterableDataset, RandomSampler,
                              SequentialSampler, StackDataset, Subset, SubsetRandomSampler, TensorDataset, WeightedRandomSampler,
                              default_collate, default_convert, get_worker_info, random_split)
from torch.utils.data.distributed import DistributedSampler

torch.manual_seed(0)


class Squares(Dataset):
    def __init__(self, n):
        self.n = n

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        if i >= self.n:
            raise IndexError(i)
        return {"x": torch.tensor(float(i)), "y": i * i, "name": f"n{i}", "pair": (i, float(i))}


class Stream(IterableDataset):
    def __init__(self, start, stop):
        self.start, self.stop = start, stop

    def __iter__(self):
        info = get_worker_info()
        assert info is None
        return iter(range(self.start, self.stop))


for batch in DataLoader(Squares(5), batch_size=2, shuffle=True):
    print(batch)
print([b.tolist() for b in DataLoader(Stream(0, 7), batch_size=3)])
print([b.tolist() for b in DataLoader(Stream(0, 7), batch_size=3, drop_last=True)])
print(list(DataLoader(Stream(0, 3), batch_size=None)))
print([b.tolist() for b in DataLoader(ChainDataset([Stream(0, 2), Stream(5, 8)]), batch_size=2)])
print([b.tolist() for b in DataLoader(Stream(0, 2) + Stream(8, 9), batch_size=2)])
both = ConcatDataset([TensorDataset(torch.arange(3)), TensorDataset(torch.arange(10, 12))])
print(len(both), both[3], both[-1], both.cumulative_sizes)
stacked = StackDataset(torch.arange(4), [10, 11, 12, 13])
print(len(stacked), stacked[2])
print(StackDataset(a=torch.arange(3), b=list("xyz"))[1])
print(list(BatchSampler(SequentialSampler(range(7)), batch_size=3, drop_last=False)))
print(list(BatchSampler(SequentialSampler(range(7)), batch_size=3, drop_last=True)))
print(list(RandomSampler(range(6))), list(RandomSampler(range(4), replacement=True, num_samples=7)))
print(list(RandomSampler(range(3), num_samples=8)))
print(list(SubsetRandomSampler([5, 6, 7])))
print(list(WeightedRandomSampler([0.1, 0.9, 0.4, 0.7, 3.0, 0.6], 5, replacement=True)))
print(list(WeightedRandomSampler([0.9, 0.4, 0.05, 0.2, 0.3, 0.1], 5, replacement=False)))
g = torch.Generator().manual_seed(3)
print([b[0].tolist() for b in DataLoader(TensorDataset(torch.arange(8)), batch_size=3, shuffle=True, generator=g)])
print([b[0].tolist() for b in DataLoader(TensorDataset(torch.arange(8)), batch_sampler=BatchSampler(RandomSampler(range(8)), 4, False))])
print([b[0].tolist() for b in DataLoader(TensorDataset(torch.arange(6)), sampler=WeightedRandomSampler([1.0] * 6, 6), batch_size=4)])
parts = random_split(range(10), [0.5, 0.3, 0.2], generator=torch.Generator().manual_seed(42))
print([list(p) for p in parts], [len(p) for p in parts])
for rank in range(2):
    sampler = DistributedSampler(range(7), num_replicas=2, rank=rank, shuffle=True, seed=1)
    sampler.set_epoch(2)
    print(len(sampler), list(sampler))
print(list(DistributedSampler(range(7), num_replicas=2, rank=1, shuffle=False, drop_last=True)))

Point = namedtuple("Point", ["x", "y"])
print(default_collate([Point(1, 2.0), Point(3, 4.0)]))
print(default_collate([(1, "a"), (2, "b")]), default_collate([[1, 2], [3, 4]]))
print(default_collate([np.ones(2), np.zeros(2)]), default_collate([np.float32(1.5), np.float32(2.5)]))
print(default_collate([np.int64(3), np.int64(4)]), default_collate([True, False]), default_collate([b"x", b"y"]))
print(default_collate([{"a": 1, "b": torch.ones(2)}, {"a": 2, "b": torch.zeros(2)}]))
print(default_convert([np.arange(3), {"k": np.float64(2.0)}, "s"]))


def pad(batch):
    n = max(len(b) for b in batch)
    return torch.stack([torch.nn.functional.pad(b, (0, n - len(b))) for b in batch]), torch.tensor([len(b) for b in batch])


seqs = [torch.arange(n) for n in (2, 4, 1, 3)]
for x, lengths in DataLoader(seqs, batch_size=2, collate_fn=pad):
    print(x, lengths)


def seed_worker(worker_id):
    random.seed(worker_id)


loader = DataLoader(Squares(4), batch_size=2, num_workers=0, pin_memory=False, worker_init_fn=seed_worker, timeout=0)
print(len(loader), loader.batch_size, loader.num_workers, loader.drop_last, type(loader.sampler).__name__, type(loader.dataset).__name__)
it = iter(loader)
print(next(it)["y"], next(it)["y"])
try:
    next(it)
except StopIteration:
    print("stop")
for make in (lambda: DataLoader(Squares(3), batch_size=2, shuffle=True, sampler=SequentialSampler(range(3))),
             lambda: DataLoader(Stream(0, 3), shuffle=True),
             lambda: DataLoader(Squares(3), batch_size=0),
             lambda: DataLoader(Squares(0), shuffle=True),
             lambda: DataLoader(Squares(3), batch_sampler=BatchSampler(SequentialSampler(range(3)), 2, False), batch_size=2),
             lambda: DataLoader(Squares(3), batch_size=None, drop_last=True),
             lambda: DataLoader(Squares(3), num_workers=-1),
             lambda: DataLoader(Squares(3), prefetch_factor=2),
             lambda: StackDataset(torch.zeros(2), torch.zeros(3)),
             lambda: random_split(range(4), [1, 2]),
             lambda: ConcatDataset([]),
             lambda: next(iter(DataLoader([torch.zeros(2), torch.zeros(3)], batch_size=2))),
             lambda: default_collate([object()]),
             lambda: default_collate([[1], [1, 2]]),
             lambda: len(Stream(0, 2))):
    try:
        make()
        print("fine")
    except Exception as e:
        print(type(e).__name__, str(e)[:70])
try:
    TensorDataset(torch.zeros(2), torch.zeros(3))
except AssertionError as e:
    print("AssertionError", e)
sub = Subset(Squares(6), [5, 1])
print(len(sub), sub[0]["y"], [s["y"] for s in sub])
state = torch.get_rng_state()
a = torch.rand(2)
torch.set_rng_state(state)
print(state.dtype, state.shape, torch.equal(a, torch.rand(2)))
import io
buffer = io.BytesIO()
torch.save({"rng": torch.get_rng_state()}, buffer)
buffer.seek(0)
b = torch.randn(3), torch.randperm(4), torch.randn(17)
torch.set_rng_state(torch.load(buffer)["rng"])
print(torch.equal(b[0], torch.randn(3)), torch.equal(b[1], torch.randperm(4)), torch.equal(b[2], torch.randn(17)))
with torch.random.fork_rng():
    torch.manual_seed(5)
    torch.rand(3)
print(torch.rand(1), torch.initial_seed())
print(state[:4], state[-8:].sum() >= 0)
