"""Functions with derivatives of their own: chained, with several results, differentiated twice, hooked, forgotten, checkpointed."""

import torch
from torch.autograd import Function
from torch.utils.checkpoint import checkpoint

torch.manual_seed(0)


class Exp(Function):
    @staticmethod
    def forward(ctx, x):
        y = x.exp()
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, g):
        y, = ctx.saved_tensors
        return g * y


class Two(Function):
    @staticmethod
    def forward(ctx, x, k, y):
        ctx.save_for_backward(x, y)
        ctx.k = k
        return x * y * k, x + y

    @staticmethod
    def backward(ctx, g, h):
        x, y = ctx.saved_tensors
        return g * y * ctx.k + h, None, g * x * ctx.k + h


def leaf(n=3):
    return torch.randn(n, requires_grad=True)


w, v = leaf(), leaf()
a, b = Two.apply(Exp.apply(w), 2.0, v)
c = Exp.apply(a * 0.1) + b.sin()
c.sum().backward(retain_graph=True)
print(w.grad, v.grad)
c.sum().backward()
print(w.grad, v.grad)
try:
    c.sum().backward()
except RuntimeError as e:
    print(str(e)[:62])

x = leaf()
y = Exp.apply(x)
g, = torch.autograd.grad(y.sum(), x, create_graph=True)
h, = torch.autograd.grad(g.pow(2).sum(), x, create_graph=True)
k, = torch.autograd.grad(h.sum(), x)
print(g.detach(), h.detach(), k)

# A result as what is asked for, and two ways to one input.
y, z = Exp.apply(Exp.apply(x)), Exp.apply(x)
print(torch.autograd.grad((y * z).sum(), [x, y]))
# A gradient that is to be differentiated itself.
seed = leaf()
g, = torch.autograd.grad(Exp.apply(x), x, seed * 2, create_graph=True)
print(torch.autograd.grad(g.sum(), [seed, x]))

t = leaf()
u = t * 2
u.register_hook(lambda g: print("hook", g))
u.retain_grad()
r = Exp.apply(u)
r.retain_grad()
(r * u).sum().backward()
print(t.grad, u.grad, r.grad)

# What goes in is written over afterwards.
p = leaf()
q = p * 1
o = Exp.apply(q)
q += 1
(o.sum() + q.sum()).backward()
print(p.grad)
torch.autograd.backward([Exp.apply(p), Exp.apply(p * 2)], [torch.ones(3), torch.arange(3.0)])
print(p.grad)

layer = torch.nn.Linear(3, 3)
inner = checkpoint(layer, p, use_reentrant=False)
outer = checkpoint(lambda z: Exp.apply(torch.tanh(layer(z))), inner, use_reentrant=False)
outer.sum().backward()
print(layer.weight.grad, p.grad)

# Many that nobody differentiates, then one, and matrices whose derivatives are such functions.
for i in range(200):
    e = Exp.apply(p) * Exp.apply(p)
e.sum().backward()
print(p.grad)
m = torch.randn(3, 3)
s = (m @ m.T + torch.eye(3)).requires_grad_()
for step in range(3):
    loss = torch.logdet(s) + (torch.linalg.solve(s, p) * p).sum() + torch.inverse(s).trace() + torch.linalg.cholesky(s).sum()
    loss.backward()
    with torch.no_grad():
        s -= 0.01 * s.grad
        s.grad = None
    print(f"{loss.item():.4f}")
