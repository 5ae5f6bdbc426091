"""Bits of tensors, sizes in place, what is written over, and gradients of values that are there more than once."""

import torch


def t(f):
    try:
        print(f())
    except Exception as error:
        print(type(error).__name__, str(error)[:150])


x = torch.tensor([1.0, 2.0, -3.5])
print(x.view(torch.int32), x.view(torch.int32).view(torch.float32), x.view(dtype=torch.int32)[0].item())
y = torch.arange(6, dtype=torch.int32).view(2, 3)
print(y.view(torch.float32).shape, y.view(torch.uint8), y.view(torch.int16).shape)
t(lambda: torch.tensor([1, 2, 3, 4], dtype=torch.uint8).view(torch.int32))
t(lambda: torch.tensor([1.0, 2.0], dtype=torch.float16).view(torch.int16))
t(lambda: torch.tensor([1.0, 2.0, 3.0], dtype=torch.bfloat16).view(torch.int16))
t(lambda: torch.tensor([1, 2, 3], dtype=torch.uint8).view(torch.int32))
t(lambda: torch.tensor(1.0).view(torch.int16))
t(lambda: torch.tensor([16256, 0], dtype=torch.int16).view(torch.bfloat16))
a = torch.arange(6.0)
print(a.resize_(2, 3), a.resize_(2, 2).shape)
a[0, 0] = 9
print(a.resize_(3, 2), a.resize_(0).shape, a.resize_((2,)))
b = torch.empty(0)
b.resize_(4).fill_(1)
print(b, b.resize_as_(torch.zeros(2, 2)))
t(lambda: torch.ones(2, requires_grad=True).resize_(3))

w = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
c = w.clone().fill_(2.0)
c.sum().backward()
print(c.requires_grad, w.grad)
w.grad = None
d = w.clone()
d.fill_(3.0)
(d * w).sum().backward()
print(w.grad, w.clone().zero_().requires_grad)
w.grad = None
e = w.clone()
e[0].fill_(2.0)
(e * e).sum().backward()
print(w.grad)
s = torch.tensor(5.0, requires_grad=True)
f = torch.zeros(3)
f.fill_(s).sum().backward()
print(s.grad)
w.grad = None
g = w * 1
g.uniform_()
g.sum().backward()
print(g.requires_grad, w.grad)
w.grad = None
g = (w * 2).copy_(torch.tensor([7.0, 8.0, 9.0]))
g.sum().backward()
print(g.detach(), w.grad)
t(lambda: w.fill_(1.0))
with torch.no_grad():
    w.fill_(1.0)
h = w.detach().fill_(3.0)
print(w, h)
t(lambda: setattr(w, "data", torch.ones(3, dtype=torch.int64)))
for i in range(3):
    w.grad = None
    (w ** 2).sum().backward()
    w.data = w.data - 0.1 * w.grad
    print(w.data, w.is_leaf, w.requires_grad)

for f in (torch.median, torch.max, torch.min, torch.amax, torch.amin, torch.nanmedian, torch.Tensor.max,
          lambda t: torch.linalg.vector_norm(t, float("inf"))):
    v = torch.tensor([1.0, 3.0, 3.0, 1.0, 3.0, 2.0, 2.0], requires_grad=True)
    f(v).backward()
    print(v.grad)
for f in (torch.median, torch.nanmedian, torch.max, torch.min, torch.amax, torch.amin, torch.mode, torch.cummax, torch.cummin, torch.sort):
    v = torch.tensor([[1.0, 3.0, 3.0, 1.0, 3.0], [2.0, 2.0, 1.0, 1.0, 0.0]], requires_grad=True)
    made = f(v, dim=1)
    made = made if isinstance(made, torch.Tensor) else made[0]
    (made * torch.arange(1.0, 1 + made.numel()).view_as(made)).sum().backward()
    print(made.detach(), v.grad)
v = torch.tensor([[float("nan"), 1.0, 1.0, 2.0], [4.0, float("nan"), 3.0, float("nan")]], requires_grad=True)
v.nanmedian().backward()
print(v.grad, v.nanmedian(1).values.detach(), v.nanmedian(0, keepdim=True).indices, torch.full((2,), float("nan")).nanmedian())
