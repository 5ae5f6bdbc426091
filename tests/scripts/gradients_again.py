"""What a gradient that is differentiated again depends on, and what optimizers make of parameters without one."""
import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)


def ask(name, net, x, how=lambda y: y.sum()):
    x.requires_grad_(True)
    g, = torch.autograd.grad(how(net(x)), x, create_graph=True)
    g.pow(2).sum().backward()
    print(name, [n for n, p in net.named_parameters() if p.grad is None], x.grad is None)


lin = lambda *between: nn.Sequential(nn.Linear(3, 4), *between, nn.Linear(4, 1))
conv = lambda *between: nn.Sequential(nn.Conv2d(1, 2, 3), *between, nn.Conv2d(2, 1, 2), nn.Flatten(0))
ask("tanh", lin(nn.Tanh()), torch.randn(5, 3))
ask("relu", lin(nn.LeakyReLU()), torch.randn(5, 3))
ask("square", lin(nn.ReLU()), torch.randn(5, 3), lambda y: (y ** 2).sum())
ask("sigmoid", lin(nn.ReLU()), torch.randn(5, 3), lambda y: y.sigmoid().sum())
ask("layer norm", lin(nn.LayerNorm(4), nn.ReLU()), torch.randn(5, 3))
ask("batch norm", lin(nn.BatchNorm1d(4), nn.ReLU()), torch.randn(5, 3))
ask("softmax", lin(nn.Softmax(-1)), torch.randn(5, 3))
ask("conv", conv(nn.LeakyReLU()), torch.randn(5, 1, 4, 4))
ask("instance norm", conv(nn.InstanceNorm2d(2, affine=True), nn.ReLU()), torch.randn(5, 1, 4, 4))

x, w = torch.randn(3, requires_grad=True), torch.randn(3, requires_grad=True)
for name, y in (("sum", x.sum()), ("product", (x * w).sum()), ("square", (x ** 2).sum()), ("linear", (x * 3 + 1).mean()), ("exp", x.exp().sum())):
    g, = torch.autograd.grad(y, x, create_graph=True)
    print(name, g.requires_grad, g.is_leaf, g.grad_fn is None)
g, = torch.autograd.grad((x * 2).sum(), x, create_graph=True)
try:
    torch.autograd.grad(g.sum(), x)
except RuntimeError as e:
    print(str(e)[:70])
g, = torch.autograd.grad((x * w).sum(), x, create_graph=True)
print(torch.autograd.grad(g.sum(), [x, w], allow_unused=True))

# Discriminators with a lazy penalty: its step leaves the last bias alone, its decay too.
for make in (lambda p: torch.optim.Adam(p, 1e-2, betas=(0.0, 0.99)), lambda p: torch.optim.AdamW(p, 1e-2, weight_decay=0.5),
             lambda p: torch.optim.SGD(p, 1e-2, momentum=0.9, weight_decay=0.1)):
    torch.manual_seed(1)
    d = nn.Sequential(nn.Conv2d(1, 4, 3, 2, 1), nn.LeakyReLU(0.2), nn.Conv2d(4, 1, 2), nn.Flatten(0))
    opt = make(d.parameters())
    for it in range(16):
        real, fake = torch.randn(6, 1, 4, 4) + 1, torch.randn(6, 1, 4, 4)
        loss = F.softplus(-d(real)).mean() + F.softplus(d(fake)).mean()
        opt.zero_grad(); loss.backward(); opt.step()
        if it % 4 == 0:
            real.requires_grad_(True)
            g, = torch.autograd.grad(d(real).sum(), real, create_graph=True)
            r1 = g.square().sum([1, 2, 3]).mean()
            opt.zero_grad(); (10 * r1).backward(); opt.step()
            print(it, f"{loss.item():.5f} {r1.item():.5f} {d[2].bias.item():.6f}", d[2].bias.grad)
