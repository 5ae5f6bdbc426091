import torch
from torch import nn
from torch.autograd import Function


class Exp(Function):
    @staticmethod
    def forward(ctx, x):
        y = x.exp()
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, grad):
        (y,) = ctx.saved_tensors
        return grad * y


class Sign(Function):
    """Straight through: the sign forward, the identity backward."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return torch.sign(x)

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return grad * (x.abs() <= 1).to(grad.dtype)


class Scale(Function):
    @staticmethod
    def forward(ctx, x, factor, shift=None):
        ctx.factor = factor
        print("needs", ctx.needs_input_grad)
        return x * factor, x + 1

    @staticmethod
    def backward(ctx, a, b):
        return a * ctx.factor + b, None, None


class Linear(Function):
    @staticmethod
    def forward(x, weight, bias):
        return x @ weight.t() + bias

    @staticmethod
    def setup_context(ctx, inputs, output):
        x, weight, bias = inputs
        ctx.save_for_backward(x, weight)

    @staticmethod
    def backward(ctx, grad):
        x, weight = ctx.saved_tensors
        return grad @ weight, grad.t() @ x, grad.sum(0)


x = torch.tensor([0.5, -0.3, 2.0], requires_grad=True)
y = Exp.apply(x)
print(y.detach(), y.requires_grad, y.is_leaf, y.grad_fn.name())
(Exp.apply(y * 2).sum() + y.sum()).backward()
print(x.grad)
x.grad = None
Sign.apply(x * 1.0).sum().backward()
print(x.grad)
a, b = Scale.apply(x, 3.0)
print(torch.autograd.grad((a * b).sum(), x))
print(torch.autograd.grad(Exp.apply(Exp.apply(x)).sum(), x))
first, = torch.autograd.grad(Exp.apply(x).sum(), x, create_graph=True)
print(first.detach(), torch.autograd.grad(first.sum(), x))
with torch.no_grad():
    print(Exp.apply(x).requires_grad)

torch.manual_seed(0)
w, c = torch.randn(2, 3, requires_grad=True), torch.zeros(2, requires_grad=True)
optimizer = torch.optim.SGD([w, c], lr=0.1)
data, target = torch.randn(8, 3), torch.randn(8, 2)
for step in range(4):
    optimizer.zero_grad()
    loss = (Linear.apply(data, w, c) - target).pow(2).mean()
    loss.backward()
    optimizer.step()
    print(f"{loss.item():.4f}")


class Binary(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(3, 4)
        self.out = nn.Linear(4, 1)

    def forward(self, x):
        return self.out(Sign.apply(torch.tanh(self.inner(x))))


net = Binary()
optimizer = torch.optim.Adam(net.parameters(), lr=0.05)
for step in range(3):
    optimizer.zero_grad()
    loss = net(data).pow(2).mean()
    loss.backward()
    optimizer.step()
    print(f"{loss.item():.4f} {net.inner.weight.grad.abs().sum().item():.4f}")


class Bad(Function):
    @staticmethod
    def forward(ctx, a, b):
        return a * b

    @staticmethod
    def backward(ctx, grad):
        return grad


try:
    Bad.apply(x, x).sum().backward()
except RuntimeError as error:
    print(error)
p = torch.ones(2, requires_grad=True)
(p ** 3).sum().backward(create_graph=True)
print(p.grad.detach())
print(torch.autograd.grad(p.grad.sum(), p))
seen = []
q = torch.ones(2, requires_grad=True)
q.register_post_accumulate_grad_hook(lambda t: seen.append(t.grad.clone()))
(q * 2).sum().backward()
print(seen)


# What is written into a result of a function leaves its place in the differentiation.
class Twice(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, g):
        return g * 2


def through_data(y):
    y.data.mul_(3)


def an_element(y):
    y[0] = 1


def without_grad(y):
    with torch.no_grad():
        y.mul_(2)


for write in (through_data, an_element, without_grad):
    a = torch.ones(2, requires_grad=True)
    y = Twice.apply(a)
    write(y)
    (y * 3).sum().backward()
    print(y.tolist(), a.grad)


class Assign(torch.autograd.Function):
    @staticmethod
    def forward(ctx, scratch, value, i):
        ctx.i = i
        scratch.data[i] = value
        return scratch

    @staticmethod
    def backward(ctx, g):
        return g, g[ctx.i], None


a = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
k = Assign.apply(torch.zeros(3), a[0], 0)
k = Assign.apply(k, a[1] * (k[:1] * 2).sum(), 1)
k = Assign.apply(k, a[2] * (k[:2] * 3).sum(), 2)
k.sum().backward()
print(k.tolist(), a.grad)
