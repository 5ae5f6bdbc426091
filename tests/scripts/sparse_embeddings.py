"""Embeddings with sparse gradients in PyTorch, dense ones here: the optimizers that take them step alike."""

import torch
import torch.nn as nn
import torch.nn.functional as F


class SkipGram(nn.Module):
    def __init__(self, words, width):
        super().__init__()
        self.u, self.v = nn.Embedding(words, width, sparse=True), nn.Embedding(words, width, sparse=True)
        nn.init.uniform_(self.u.weight.data, -0.5 / width, 0.5 / width)
        nn.init.constant_(self.v.weight.data, 0)

    def forward(self, center, context, negatives):
        u, v, n = self.u(center), self.v(context), self.v(negatives)
        near = F.logsigmoid((u * v).sum(1))
        far = F.logsigmoid(-torch.bmm(n, u.unsqueeze(2)).squeeze(2)).sum(1)
        return -(near + far).mean()


for make in (lambda p: torch.optim.SparseAdam(p, lr=0.05), lambda p: torch.optim.SGD(p, 0.5), lambda p: torch.optim.Adagrad(p, 0.1),
             lambda p: torch.optim.SparseAdam(p, lr=0.02, betas=(0.8, 0.9), maximize=True)):
    torch.manual_seed(0)
    model = SkipGram(20, 4)
    optimizer = make(list(model.parameters()))
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 10)
    for step in range(10):
        center, context, negatives = torch.randint(20, (6,)), torch.randint(20, (6,)), torch.randint(20, (6, 2))
        loss = model(center, context, negatives)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
        if step % 3 == 0:
            print(step, f"{loss.item():.5f} {model.u.weight.detach().abs().sum().item():.4f} {model.v.weight.detach().abs().sum().item():.4f}")
    print(optimizer)
for bad in (dict(lr=0.0), dict(eps=0.0), dict(betas=(1.0, 0.9))):
    try:
        torch.optim.SparseAdam(model.parameters(), **bad)
    except ValueError as error:
        print(error)
