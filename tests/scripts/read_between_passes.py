"""Values that are read between a forward pass and its backward pass, and sizes that are tensors."""
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)


class MoCo(nn.Module):
    """A queue whose pointer is read between the passes."""

    def __init__(self, K=32):
        super().__init__()
        self.q, self.k, self.K = nn.Linear(8, 8), nn.Linear(8, 8), K
        self.register_buffer("queue", F.normalize(torch.randn(8, K), dim=0))
        self.register_buffer("ptr", torch.zeros(1, dtype=torch.long))

    def forward(self, a, b):
        q = F.normalize(self.q(a), dim=1)
        with torch.no_grad():
            for pq, pk in zip(self.q.parameters(), self.k.parameters()):
                pk.data = pk.data * 0.9 + pq.data * 0.1
            k = F.normalize(self.k(b), dim=1)
        logits = torch.cat([torch.einsum("nc,nc->n", q, k).unsqueeze(-1), q @ self.queue.clone().detach()], 1) / 0.2
        at = int(self.ptr)
        self.queue[:, at:at + len(k)] = k.T
        self.ptr[0] = (at + len(k)) % self.K
        return F.cross_entropy(logits, torch.zeros(len(a), dtype=torch.long))


x = torch.randn(16, 8)
moco = MoCo()
opt = torch.optim.SGD(moco.q.parameters(), 0.5)
for _ in range(7):
    loss = moco(x, x + 0.1 * torch.randn_like(x))
    opt.zero_grad()
    loss.backward()
    opt.step()
print(f"{loss.item():.5f} {moco.ptr.item()} {sum(p.sum() for p in moco.parameters()).item():.4f}")

for what in ("weight", "counter", "loss"):
    w, count = torch.zeros(2, requires_grad=True), torch.zeros(1)
    for _ in range(5):
        loss = (w * w * 2 + 3 * w).sum()
        seen = {"weight": w, "counter": count, "loss": loss}[what].sum().item()
        count = count + 1
        w.grad = None
        loss.backward()
        with torch.no_grad():
            w -= 0.1 * w.grad
    print(what, w, w.grad, f"{seen:.4f}")

lengths = torch.tensor([3, 5, 2]) + 0
longest, total = lengths.max(), lengths.sum()
print(torch.arange(longest)[None, :] < lengths[:, None])
print(torch.zeros(longest, 2).shape, torch.ones((2, longest)).shape, torch.full((longest,), 7), torch.empty(longest, longest).shape)
print(torch.randperm(longest), torch.randint(0, total, (3,)), torch.randn(longest).shape, torch.eye(longest)[0], torch.linspace(0, longest, 3))
print(torch.arange(10).view(longest, -1).shape, torch.ones(1, 2).expand(longest, 2).shape, torch.ones(2).repeat(longest).shape,
      torch.arange(9.).topk(longest)[1], torch.arange(9).roll(longest), torch.arange(9).narrow(0, longest, 2), len(torch.arange(9).split(longest)))
print(F.one_hot(torch.tensor([0, 1]), longest).shape, F.pad(torch.ones(2), (0, longest)), nn.Embedding(total, 2).weight.shape,
      nn.Linear(longest, 2).weight.shape, torch.multinomial(torch.ones(9), longest).shape, torch.ones(3, 2).sum(torch.tensor(1)))

s, x = torch.tensor(3.0) * 1, torch.arange(3.0)
print(s[s > 1], s[s > 5], s[True], x[True].shape, x[False].shape, x[x.sum() > 0].shape, x[x.sum() < 0].shape)
x[True] = -2
print(x)
for wrong in (lambda: torch.tensor([1, 2]) ** -1, lambda: torch.bmm(torch.ones(2, 3, 4), torch.ones(3, 4, 5))):
    try:
        wrong()
    except RuntimeError as e:
        print(e)

import numpy as np

x = torch.arange(12.0).reshape(3, 4) * 0.5
print(torch.full((2,), x.max()), torch.full_like(x, x.mean())[0], torch.arange(x.min(), x.max(), 2), torch.histc(x, 3, x.min(), x.max()))
print(torch.empty(3).uniform_(x.mean(), x.mean()), torch.FloatTensor([x.mean(), 2]), torch.LongTensor([lengths.max(), 1]))
print(np.array([x.mean(), x.max()]), np.mean([x.mean(), x.max()]), torch.add(x, x, alpha=lengths.min() * 1).sum())
