import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler

dist.init_process_group("gloo")
rank, size = dist.get_rank(), dist.get_world_size()
torch.manual_seed(rank)
model = DistributedDataParallel(nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.BatchNorm1d(8), nn.Linear(8, 1)))
g = torch.Generator().manual_seed(5)
x = torch.randn(64, 4, generator=g)
data = TensorDataset(x, (x ** 2).sum(1, keepdim=True))
sampler = DistributedSampler(data, seed=3)
loader = DataLoader(data, batch_size=4, sampler=sampler)
optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
for epoch in range(3):
    sampler.set_epoch(epoch)
    for i, (a, b) in enumerate(loader):
        loss = nn.functional.mse_loss(model(a), b)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        shown = loss.detach().clone()
        dist.reduce(shown, dst=0, op=dist.ReduceOp.SUM)
        # Rank 0 alone reads it.
        if rank == 0:
            print(f"{epoch} {i} {shown.item() / size:.4f}")
weights = [p.detach().clone() for p in model.parameters()]
for p in weights:
    largest = p.clone()
    dist.all_reduce(largest, op=dist.ReduceOp.MAX)
    assert torch.equal(largest, p)
print(sorted(model.state_dict())[:2], f"{weights[0].sum().item():.4f}")
# Two small batches, exchanged once.
optimizer.zero_grad()
with model.no_sync():
    nn.functional.mse_loss(model(x[:4] + rank), torch.zeros(4, 1)).backward()
before = model.module[0].weight.grad.clone()
nn.functional.mse_loss(model(x[4:8] + rank), torch.zeros(4, 1)).backward()
print(f"{before.sum().item():.3f} {model.module[0].weight.grad.sum().item():.3f}")
dist.destroy_process_group()
