import torch, torch.nn as nn, numpy as np
from torch.func import functional_call, grad, vmap, jacrev, jacfwd, hessian, vjp, jvp

torch.manual_seed(0)
np.random.seed(0)


# PINN
class PINN(nn.Module):
    def __init__(self, layers):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(a, b) for a, b in zip(layers[:-1], layers[1:])])
        [nn.init.xavier_normal_(l.weight) for l in self.layers]

    def forward(self, x, t):
        z = torch.cat([x, t], dim=1)
        for l in self.layers[:-1]:
            z = torch.tanh(l(z))
        return self.layers[-1](z)


def pde(m, x, t, nu=0.01 / np.pi):
    x.requires_grad_(True)
    t.requires_grad_(True)
    u = m(x, t)
    u_t = torch.autograd.grad(u, t, torch.ones_like(u), create_graph=True)[0]
    u_x = torch.autograd.grad(u, x, torch.ones_like(u), create_graph=True)[0]
    u_xx = torch.autograd.grad(u_x, x, grad_outputs=torch.ones_like(u_x), create_graph=True, retain_graph=True)[0]
    return u_t + u * u_x - nu * u_xx


m = PINN([2, 16, 16, 1])
opt = torch.optim.Adam(m.parameters(), lr=1e-2)
xf, tf = torch.rand(20, 1) * 2 - 1, torch.rand(20, 1)
xi = torch.linspace(-1, 1, 11).reshape(-1, 1)
ui = -torch.sin(np.pi * xi)
for i in range(4):
    l = (pde(m, xf, tf) ** 2).mean() + nn.MSELoss()(m(xi, torch.zeros_like(xi)), ui)
    opt.zero_grad()
    l.backward()
    opt.step()
    print(i, f"{l.item():.5f}")
lb = torch.optim.LBFGS(m.parameters(), lr=1.0, max_iter=5, history_size=10, line_search_fn="strong_wolfe")
cnt = 0


def closure():
    global cnt
    lb.zero_grad()
    l = (pde(m, xf, tf) ** 2).mean() + nn.MSELoss()(m(xi, torch.zeros_like(xi)), ui)
    l.backward()
    cnt += 1
    return l


lb.step(closure)
print(f"{closure().item():.4f}", cnt)
# MAML
net = nn.Sequential(nn.Linear(1, 16), nn.ReLU(), nn.Linear(16, 1))
params = dict(net.named_parameters())
mo = torch.optim.Adam(net.parameters(), 1e-2)


def task():
    a, p = np.random.uniform(0.1, 5), np.random.uniform(0, np.pi)
    return lambda x: a * torch.sin(x + p)


for it in range(3):
    mo.zero_grad()
    tot = 0.0
    for _ in range(2):
        f = task()
        x = torch.rand(5, 1) * 10 - 5
        xq = torch.rand(5, 1) * 10 - 5
        fast = {k: v for k, v in net.named_parameters()}
        for _ in range(2):
            l = ((functional_call(net, fast, (x,)) - f(x)) ** 2).mean()
            gs = torch.autograd.grad(l, fast.values(), create_graph=True)
            fast = {k: v - 0.01 * g for (k, v), g in zip(fast.items(), gs)}
        tot = tot + ((functional_call(net, fast, xq) - f(xq)) ** 2).mean()
    tot.backward()
    mo.step()
    print("meta", it, f"{tot.item():.4f}")
# per-sample grads
ps = {k: v.detach() for k, v in net.named_parameters()}


def loss(p, x, y):
    return ((functional_call(net, p, (x.unsqueeze(0),)) - y) ** 2).mean()


g = vmap(grad(loss), in_dims=(None, 0, 0))(ps, torch.randn(4, 1), torch.randn(4, 1))
print({k: tuple(v.shape) for k, v in g.items()})
f = lambda x: (x**3).sum()
x = torch.tensor([1.0, 2.0, 3.0])
print(grad(f)(x), jacrev(lambda x: x**2)(x), hessian(f)(x), jacfwd(torch.sin)(x))
print(
    vmap(torch.dot)(torch.arange(6.0).view(2, 3), torch.ones(2, 3)),
    vmap(lambda a, b: a * b, in_dims=(0, None))(torch.ones(3), torch.tensor(2.0)),
)
o, fn = vjp(torch.sin, x)
print(o, fn(torch.ones(3)))
print(jvp(torch.exp, (x,), (torch.ones(3),)))
print(torch.autograd.functional.jacobian(lambda a: a @ a, x), torch.autograd.functional.hessian(lambda a: (a**2).prod(), x))
