import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)


def attempt(name, f):
    try:
        f()
        print(name, "fine")
    except RuntimeError as e:
        print(name, e)


def tanh_result():
    x = torch.ones(2, 2, requires_grad=True)
    y = torch.tanh(x)
    y.add_(1)
    y.sum().backward()


def factor():
    x = torch.ones(3, requires_grad=True)
    w = torch.ones(3)
    y = (x * w).sum()
    w.mul_(2)
    y.backward()


def factor_unneeded():
    x = torch.ones(3, requires_grad=True)
    w = torch.ones(3)
    z = x * 1.0
    y = (z * w).sum()
    z.add_(1)
    y.backward()
    print(x.grad)


def both_factors():
    x = torch.ones(3, requires_grad=True)
    w = torch.ones(3, requires_grad=True)
    z = x * 1.0
    y = (z * w).sum()
    z.add_(1)
    y.backward()


def in_place_itself():
    x = torch.ones(3, requires_grad=True)
    w = torch.ones(3, requires_grad=True)
    z = x * 1.0
    z.mul_(w)
    z.sum().backward()
    print(x.grad, w.grad)


def relu_in_place():
    x = torch.randn(4, requires_grad=True)
    y = x * 2
    z = torch.sigmoid(y)
    y.relu_()
    z.sum().backward()


def relu_then_add():
    x = torch.ones(4, requires_grad=True)
    y = torch.relu(x)
    y += 1
    y.sum().backward()


def exp_input():
    x = torch.ones(4, requires_grad=True)
    h = x + 1
    y = torch.exp(h)
    h.zero_()
    y.sum().backward()
    print(x.grad)


def log_input():
    x = torch.ones(4, requires_grad=True)
    h = x + 1
    y = torch.log(h)
    h[0] = 3.0
    y.sum().backward()


def optimizer_between():
    net = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 1))
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    loss = net(torch.randn(2, 3)).mean()
    loss.backward(retain_graph=True)
    opt.step()
    loss.backward()


def layer_norm():
    ln = nn.LayerNorm(4)
    x = torch.randn(2, 4, requires_grad=True)
    h = x * 1
    y = ln(h)
    h += y
    h.sum().backward()


def twice(f):
    def run():
        x = torch.ones(2, requires_grad=True)
        y = f(x).sum()
        y.backward()
        y.backward()
        print(x.grad)
    return run


for f in (tanh_result, factor, factor_unneeded, both_factors, in_place_itself, relu_in_place, relu_then_add, exp_input, log_input,
          optimizer_between, layer_norm):
    attempt(f.__name__, f)
for name, f in (("times two", lambda x: x * 2), ("plus", lambda x: x + 2), ("over", lambda x: x / 2), ("minus", lambda x: -x),
                ("square", lambda x: x ** 2), ("view", lambda x: x.view(1, 2)), ("exp", torch.exp), ("times tensor", lambda x: x * torch.ones(2)),
                ("mean", lambda x: x.mean() * torch.ones(1)), ("cat", lambda x: torch.cat([x, x]))):
    attempt("twice " + name, twice(f))
x = torch.ones(2, requires_grad=True)
y = (x * 2).sum()
y.backward(retain_graph=True)
y.backward()
print(x.grad, x._version)
with torch.no_grad():
    x += 1
    x.mul_(2)
print(x._version, x.detach()._version, x.view(2)._version)
