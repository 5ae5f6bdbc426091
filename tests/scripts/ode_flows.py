import math

import torch
import torch.nn as nn
from torch import distributions as D

torch.manual_seed(0)


class ODEF(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 2))
        for m in self.net.modules():
            if isinstance(m, nn.Linear):
                nn.init.normal_(m.weight, mean=0, std=0.1)
                nn.init.constant_(m.bias, val=0)

    def forward(self, t, y):
        return self.net(y ** 3)


def odeint(func, y0, t, method="euler"):
    ys = [y0]
    for t0, t1 in zip(t[:-1], t[1:]):
        h, y = t1 - t0, ys[-1]
        if method == "euler":
            y = y + h * func(t0, y)
        else:
            k1 = func(t0, y)
            k2 = func(t0 + h / 2, y + h * k1 / 2)
            k3 = func(t0 + h / 2, y + h * k2 / 2)
            k4 = func(t1, y + h * k3)
            y = y + h * (k1 + 2 * k2 + 2 * k3 + k4) / 6
        ys.append(y)
    return torch.stack(ys)


true_A = torch.tensor([[-0.1, 2.0], [-2.0, -0.1]])


class Lambda(nn.Module):
    def forward(self, t, y):
        return torch.mm(y ** 3, true_A)


t = torch.linspace(0.0, 1.0, 11)
with torch.no_grad():
    true_y = odeint(Lambda(), torch.tensor([[2.0, 0.0]]), t, "rk4")
func = ODEF()
opt = torch.optim.RMSprop(func.parameters(), lr=1e-3)
for i in range(4):
    opt.zero_grad()
    pred = odeint(func, true_y[0], t)
    loss = torch.mean(torch.abs(pred - true_y))
    loss.backward()
    opt.step()
    print(f"Iter {i:04d} | Total Loss {loss.item():.4f}")


class Coupling(nn.Module):
    def __init__(self, mask):
        super().__init__()
        self.register_buffer("mask", mask)
        self.s = nn.Sequential(nn.Linear(2, 8), nn.LeakyReLU(), nn.Linear(8, 2), nn.Tanh())
        self.t = nn.Sequential(nn.Linear(2, 8), nn.LeakyReLU(), nn.Linear(8, 2))

    def f(self, x):
        z_ = self.mask * x
        s, t = self.s(z_) * (1 - self.mask), self.t(z_) * (1 - self.mask)
        return (1 - self.mask) * (x - t) * torch.exp(-s) + z_, -s.sum(dim=1)

    def g(self, z):
        x_ = z * self.mask
        s, t = self.s(x_) * (1 - self.mask), self.t(x_) * (1 - self.mask)
        return x_ + (1 - self.mask) * (z * torch.exp(s) + t)


class RealNVP(nn.Module):
    def __init__(self, masks, prior):
        super().__init__()
        self.prior = prior
        self.layers = nn.ModuleList([Coupling(m) for m in masks])

    def log_prob(self, x):
        log_det = x.new_zeros(x.shape[0])
        for layer in reversed(self.layers):
            x, d = layer.f(x)
            log_det += d
        return self.prior.log_prob(x) + log_det

    def sample(self, n):
        z = self.prior.sample((n,))
        for layer in self.layers:
            z = layer.g(z)
        return z


masks = torch.tensor([[0.0, 1.0], [1.0, 0.0]] * 2)
flow = RealNVP(masks, D.MultivariateNormal(torch.zeros(2), torch.eye(2)))
opt = torch.optim.Adam([p for p in flow.parameters() if p.requires_grad is True], lr=1e-2)
th = torch.rand(64) * math.pi
data = torch.stack([torch.cos(th), torch.sin(th)], 1) + 0.05 * torch.randn(64, 2)
for i in range(4):
    loss = -flow.log_prob(data).mean()
    opt.zero_grad()
    loss.backward(retain_graph=True)
    opt.step()
    print(f"iter {i}: loss = {loss:.3f}")
with torch.no_grad():
    print(flow.sample(3).shape)
base = D.Independent(D.Normal(torch.zeros(2), torch.ones(2)), 1)
td = D.TransformedDistribution(base, [D.AffineTransform(1.0, 2.0), D.TanhTransform()])
print(td.log_prob(torch.tensor([[0.1, 0.2]])))
b = D.Binomial(10, torch.tensor([0.2, 0.7]))
print(b.mean, b.variance, b.log_prob(torch.tensor([3.0, 8.0])), b)
print(b.sample((3,)).shape, D.Binomial(100, 0.3).sample((4,)), D.Binomial(5, torch.tensor(0.5)).sample((6,)))
print(D.Binomial(4, logits=torch.tensor([0.1])).entropy(), D.Binomial(3, torch.tensor(0.5)).enumerate_support())
