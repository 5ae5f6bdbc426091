import torch
from torch import nn
from torch.utils.checkpoint import checkpoint, checkpoint_sequential

torch.manual_seed(0)
block = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Dropout(0.5), nn.Linear(8, 4))
head = nn.Linear(4, 1)
x = torch.randn(3, 4)
runs = []
for kept in (True, False):
    torch.manual_seed(5)
    block.zero_grad()
    head.zero_grad()
    h = block(x) if kept else checkpoint(block, x, use_reentrant=False)
    h = block(h) if kept else checkpoint(block, h, use_reentrant=False)
    head(h).sum().backward()
    runs.append([p.grad.clone() for p in [*block.parameters(), *head.parameters()]])
    print(torch.rand(1))
print(all(torch.allclose(a, b) for a, b in zip(*runs)))
y = torch.randn(2, 4, requires_grad=True)
checkpoint_sequential(block[:2], 2, y, use_reentrant=False).sum().backward()
print(y.grad)


def two(a, b, scale=1.0):
    return a * b * scale, a + b


a, b = torch.ones(2, requires_grad=True), torch.full((2,), 3.0, requires_grad=True)
p, q = checkpoint(two, a, b, use_reentrant=False, scale=2.0)
(p.sum() + q.sum()).backward()
print(a.grad, b.grad)
with torch.no_grad():
    print(checkpoint(two, a, b, use_reentrant=False)[0])
