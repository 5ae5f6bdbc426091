import torch

x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
y = (x ** 2).sum()
y.backward()
print(x.grad, y, x.is_leaf, y.is_leaf, y.requires_grad)
(x * 2).sum().backward()
print(x.grad)
x.grad.zero_()
z = x * x
z.backward(torch.tensor([1.0, 0.1, 0.01]))
print(x.grad)
with torch.no_grad():
    w = x * 3
    x -= 0.1
    print(w.requires_grad, torch.is_grad_enabled())
print(x)
d = x.detach()
print(d.requires_grad, d)
g, = torch.autograd.grad((x ** 3).sum(), x, create_graph=True)
print(g.detach())
h, = torch.autograd.grad(g.sum(), x)
print(h)
try:
    x.add_(1)
except RuntimeError as e:
    print(e)
try:
    torch.ones(2).sum().backward()
except RuntimeError as e:
    print(e)
try:
    (x * 2).backward()
except RuntimeError as e:
    print(e)
loss = (x * x).sum()
loss.backward(retain_graph=True)
loss.backward()
print(x.grad)
try:
    loss.backward()
except RuntimeError as e:
    print(str(e)[:60])
a = torch.ones(2, 2)
a.requires_grad_()
b = a[0]
c = torch.cat([b, a[1] * 2])
c.prod().backward()
print(a.grad)


@torch.no_grad()
def evaluate(t):
    return (t * 2).requires_grad


print(evaluate(a))
v = torch.zeros(3)
v[1] = x[0] * 2
v.sum().backward()
print(x.grad, v.detach())
p = torch.nn.Parameter(torch.ones(2))
p.data.mul_(3)
p.data = p.data + 1
print(p, p.grad, type(p.data).__name__)

leaf = torch.ones(2, 3, requires_grad=True)
middle = leaf * 2
middle.retain_grad()
print(middle.retains_grad, leaf.retains_grad)
(middle * middle).sum().backward()
print(middle.grad, leaf.grad)
other = leaf * 3
(other * middle.detach()).sum().backward()
print(middle.grad, leaf.grad, other.retains_grad)
leaf.retain_grad()
print(leaf.retains_grad)
try:
    torch.ones(2).retain_grad()
except RuntimeError as e:
    print(e)
left, right = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)
(left * right * 4).sum().backward(inputs=[left])
print(left.grad, right.grad)
