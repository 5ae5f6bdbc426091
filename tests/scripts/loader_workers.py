"""Loaders with workers: their random numbers, streams that they share out, and functions that prepare them."""
import math
import random

import numpy as np
import torch
from torch.utils.data import Dataset, DataLoader, IterableDataset, get_worker_info, TensorDataset
class Noisy(Dataset):
    def __len__(s): return 10
    def __getitem__(s, i):
        w = get_worker_info()
        return i, torch.rand(1).item(), random.random(), np.random.rand(), -1 if w is None else w.id
def show(dl):
    for b in dl: print([[round(float(v), 5) for v in t] for t in b])
for nw in (0, 1, 2):
    torch.manual_seed(0); random.seed(0); np.random.seed(0)
    dl = DataLoader(Noisy(), batch_size=2, shuffle=True, num_workers=nw); show(dl); print('after', torch.rand(2), random.random(), np.random.rand()); show(dl)
def seed_worker(wid):
    s = torch.initial_seed() % 2**32; np.random.seed(s); random.seed(s);
g = torch.Generator(); g.manual_seed(0)
show(DataLoader(Noisy(), batch_size=4, num_workers=2, worker_init_fn=seed_worker, generator=g, shuffle=True))
dl = DataLoader(Noisy(), batch_size=4, num_workers=2, persistent_workers=True, generator=g); show(dl); show(dl)
class It(IterableDataset):
    def __init__(s, a, b): s.start, s.end = a, b
    def __iter__(s): return iter(range(s.start, s.end))
print(list(DataLoader(It(3, 7), num_workers=0)), list(DataLoader(It(3, 7), num_workers=2)))
class It2(It):
    def __iter__(s):
        w = get_worker_info()
        if w is None: a, b = s.start, s.end
        else: per = int(math.ceil((s.end - s.start) / float(w.num_workers))); a = s.start + w.id * per; b = min(a + per, s.end)
        return iter(range(a, b))
print(list(DataLoader(It2(3, 7), num_workers=2)), list(DataLoader(It2(3, 12), num_workers=2, batch_size=2)), list(DataLoader(It2(3, 12), num_workers=2, batch_size=2, drop_last=True)), list(DataLoader(It2(3, 7), num_workers=2)))
def init(wid):
    w = get_worker_info(); d = w.dataset; per = int(math.ceil((d.end - d.start) / float(w.num_workers))); a, e = d.start, d.end; d.start = a + wid * per; d.end = min(d.start + per, e)
ds = It(3, 7); print(list(DataLoader(ds, num_workers=2, worker_init_fn=init)), ds.start, ds.end); print(get_worker_info())
print([b[0].tolist() for b in DataLoader(TensorDataset(torch.arange(5)), 2, num_workers=2)])

optimizer = torch.optim.SGD([torch.zeros(1, requires_grad=True)], 0.1)
restarts = torch.optim.lr_scheduler.CosineAnnealingWarmRestarts(optimizer, T_0=4, T_mult=2, eta_min=1e-3)
for epoch in (0.5, 3.75, 4, 7.5, 11.9, 12.25, 2):
    restarts.step(epoch)
    print(epoch, f"{optimizer.param_groups[0]['lr']:.6f} {restarts.T_cur} {restarts.T_i}")
