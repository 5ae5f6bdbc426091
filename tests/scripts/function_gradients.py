"""What functions of functions give stands in the differentiation around it: physics and penalties train through it."""

import torch
from torch import nn
from torch.autograd.graph import register_multi_grad_hook
from torch.func import functional_call, grad, hessian, jacrev, jvp, linearize, vjp, vmap

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 1))
params = dict(net.named_parameters())
points = torch.rand(5, 2)


def value(params, x):
    return functional_call(net, params, (x,)).squeeze()


laplacian = vmap(hessian(value, argnums=1), in_dims=(None, 0))(params, points).diagonal(dim1=-2, dim2=-1).sum(-1)
print(laplacian)
optimizer = torch.optim.Adam(net.parameters(), 1e-2)
for step in range(5):
    slope = vmap(grad(value, argnums=1), in_dims=(None, 0))(params, points)
    bend = vmap(hessian(value, argnums=1), in_dims=(None, 0))(params, points)
    loss = (bend.diagonal(dim1=-2, dim2=-1).sum(-1) - 1.0).square().mean() + slope.square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, f"{loss.item():.5f} {net[0].weight.grad.norm().item():.5f}")

w = torch.tensor([1.0, 2.0], requires_grad=True)
x = torch.tensor([3.0, 4.0])
made = grad(lambda x: (x * x * w).sum())(x)
made.sum().backward()
print(made.detach(), made.requires_grad, w.grad)
print(grad(lambda x: (x * x).sum())(x), grad(lambda w: (w ** 3).sum())(w).requires_grad, jacrev(lambda x: x * w)(x).requires_grad)
with torch.no_grad():
    print(grad(lambda x: (x * x * w).sum())(x).requires_grad)
y, pull = vjp(lambda x: x * w, x)
print(y.requires_grad, pull(torch.ones(2))[0].requires_grad, jvp(lambda x: x * w, (x,), (x,))[1].requires_grad)
y, push = linearize(torch.sin, x)
print(y, push(torch.ones(2)))
for bad in (lambda: vmap(lambda a: a)(1), lambda: jvp(torch.sin, x, x)):
    try:
        bad()
    except (ValueError, RuntimeError) as error:
        print(type(error).__name__, error)

# Twice through what keeps no values.
base = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True).float()
w = torch.ones(2, requires_grad=True)
optimizer = torch.optim.Adam([w], 0.1)
for _ in range(4):
    u = torch.tanh(w * base)
    slope, = torch.autograd.grad(u, base, torch.ones_like(u), retain_graph=True, create_graph=True)
    loss = slope.square().mean() + u.sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"{loss.item():.5f}")

a, b = torch.ones(2, requires_grad=True), torch.full((2,), 3.0, requires_grad=True)
handle = register_multi_grad_hook([a, b], lambda found: print("both", found))
(a * b).sum().backward()
handle.remove()

# At the bounds of functions with pieces.
for f in (lambda x: x.clamp(0, 2), lambda x: x.clamp(min=0), lambda x: torch.clamp_max(x, 2), lambda x: x.clip(torch.zeros(5), torch.full((5,), 2.0)),
          lambda x: x.clamp(min=0).sqrt(), nn.functional.relu6, lambda x: nn.functional.hardswish(x - 3), lambda x: torch.atan2(x, x)):
    x = torch.tensor([-1.0, 0.0, 1.0, 2.0, 6.0], requires_grad=True)
    f(x).sum().backward()
    print(x.grad)
low, high = torch.tensor([0.0, 2.0], requires_grad=True), torch.tensor([3.0, 2.0], requires_grad=True)
torch.clamp(torch.tensor([0.0, 1.0]), low, high).sum().backward()
print(low.grad, high.grad)
