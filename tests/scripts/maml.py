import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.func import functional_call, grad, vmap
from collections import OrderedDict
import math

torch.manual_seed(0)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(OrderedDict([("l1", nn.Linear(1, 16)), ("relu1", nn.ReLU()), ("l2", nn.Linear(16, 1))]))

    def forward(self, x):
        return self.net(x)


class Tasks:
    def sample(self):
        a, b = torch.rand(1).item() * 4.9 + 0.1, torch.rand(1).item() * math.pi
        xs = torch.rand(10, 1) * 10 - 5
        return xs, a * torch.sin(xs + b)


model, tasks = Net(), Tasks()
meta_opt = torch.optim.Adam(model.parameters(), lr=1e-2)
for it in range(4):
    meta_loss = 0.0
    for _ in range(3):
        x, y = tasks.sample()
        weights = OrderedDict(model.named_parameters())
        for step in range(2):
            loss = F.mse_loss(functional_call(model, weights, (x[:5],)), y[:5])
            grads = torch.autograd.grad(loss, weights.values(), create_graph=True)
            weights = OrderedDict((name, p - 0.01 * g) for (name, p), g in zip(weights.items(), grads))
        meta_loss = meta_loss + F.mse_loss(functional_call(model, weights, x[5:]), y[5:])
    meta_opt.zero_grad()
    meta_loss.backward()
    meta_opt.step()
    print(f"{it} {meta_loss.item():.4f}")

params = {k: v.detach() for k, v in model.named_parameters()}
buffers = {k: v.detach() for k, v in model.named_buffers()}


def compute_loss(params, buffers, sample, target):
    out = functional_call(model, (params, buffers), (sample.unsqueeze(0),))
    return F.mse_loss(out, target.unsqueeze(0))


x, y = tasks.sample()
ft = vmap(grad(compute_loss), in_dims=(None, None, 0, 0))
per_sample = ft(params, buffers, x[:4], y[:4])
print({k: v.shape for k, v in per_sample.items()})
print(per_sample["net.l2.bias"])
# Reptile
slow = {k: v.clone() for k, v in model.state_dict().items()}
fast = Net()
fast.load_state_dict(slow)
opt = torch.optim.SGD(fast.parameters(), lr=0.02)
for _ in range(3):
    opt.zero_grad()
    F.mse_loss(fast(x), y).backward()
    opt.step()
with torch.no_grad():
    for (name, p), q in zip(model.named_parameters(), fast.parameters()):
        p.add_(q - p, alpha=0.5)
    print(F.mse_loss(model(x), y))
