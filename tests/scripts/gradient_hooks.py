import torch, torch.nn as nn, torch.nn.functional as F

torch.manual_seed(0)
net = nn.Sequential(
    nn.Conv2d(1, 4, 3, padding=1),
    nn.ReLU(),
    nn.Conv2d(4, 6, 3, padding=1),
    nn.ReLU(),
    nn.AdaptiveAvgPool2d(1),
    nn.Flatten(),
    nn.Linear(6, 3),
)


class GradCAM:
    def __init__(self, model, layer):
        self.model = model
        self.g = self.a = None
        layer.register_forward_hook(lambda m, i, o: setattr(self, "a", o))
        layer.register_full_backward_hook(lambda m, gi, go: setattr(self, "g", go[0]))

    def __call__(self, x, c=None):
        out = self.model(x)
        c = out.argmax(1).item() if c is None else c
        self.model.zero_grad()
        out[0, c].backward()
        w = self.g.mean(dim=(2, 3), keepdim=True)
        cam = F.relu((w * self.a).sum(1))
        return (cam - cam.min()) / (cam.max() - cam.min() + 1e-8)


cam = GradCAM(net, net[2])(torch.randn(1, 1, 5, 5))
print(cam.detach(), cam.shape)
x = torch.randn(3, requires_grad=True)
y = x * 2
grads = {}
h = y.register_hook(lambda g: grads.setdefault("y", g.clone()))
y.register_hook(lambda g: g * 10)
z = (y**2).sum()
print(y, z)
z.backward()
print(grads, x.grad, y.is_leaf, y.grad_fn is not None)
h.remove()
x.grad = None
(x * 2).sum().backward()
print(x.grad)


def bh(m, gi, go):
    print(type(m).__name__, [None if g is None else tuple(g.shape) for g in gi], [tuple(g.shape) for g in go])


lin = nn.Linear(3, 2)
lin.register_full_backward_hook(bh)
lin(torch.randn(4, 3)).sum().backward()
lin(torch.randn(4, 3, requires_grad=True)).sum().backward()
acts = {}


def get(name):
    def hook(m, i, o):
        acts[name] = o.detach()

    return hook


for n, m in net.named_modules():
    if isinstance(m, nn.Conv2d):
        m.register_forward_hook(get(n))
net(torch.randn(1, 1, 4, 4))
print({k: v.shape for k, v in acts.items()})
p = nn.Parameter(torch.ones(2))
p.register_hook(lambda g: g.clamp(max=0.5))
(p * 3).sum().backward()
print(p.grad)
# saved tensor grads of inputs: adversarial FGSM / PGD
x = torch.rand(1, 1, 5, 5, requires_grad=True)
F.cross_entropy(net(x), torch.tensor([1])).backward()
adv = torch.clamp(x + 0.1 * x.grad.sign(), 0, 1)
print((adv - x).abs().max().item())


# dropout of gradient reversal
class GRL(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, a):
        ctx.a = a
        return x.view_as(x)

    @staticmethod
    def backward(ctx, g):
        return g.neg() * ctx.a, None


a = torch.ones(2, requires_grad=True)
r = GRL.apply(a * 2, 0.5)
print(r)
r.sum().backward()
print(a.grad)


class MySq(torch.autograd.Function):
    @staticmethod
    def forward(ctx, i):
        ctx.save_for_backward(i)
        return i**2

    @staticmethod
    def backward(ctx, g):
        (i,) = ctx.saved_tensors
        return 2 * i * g


t = torch.tensor([3.0], requires_grad=True)
s = MySq.apply(t)
print(s, s.grad_fn.__class__.__name__ != "")
(g,) = torch.autograd.grad(s, t, create_graph=True)
print(g.item())
print(torch.autograd.grad(g, t))
# retain_grad, inputs=, is_leaf, detach
q = torch.tensor(2.0, requires_grad=True)
w = q**2
w.retain_grad()
e = w**3
e.backward()
print(w.grad, q.grad)
print(torch.autograd.grad(q**3, q))
a = torch.ones(2, requires_grad=True)
b = a * 2
b = a.tanh()
b.sum().backward(retain_graph=True)
b.sum().backward()
print(a.grad)
try:
    b.sum().backward()
    print("no error")
except RuntimeError as e:
    print(str(e)[:80])
c = torch.exp(a)
c.sum().backward()
try:
    (c * 2).sum().backward()
    print("no error")
except RuntimeError as e:
    print(str(e))
c = a + 3.0
l1 = c.sum()
l2 = (c + 1).sum()
l1.backward()
l2.backward()
print(a.grad)
c = a.exp()
l1 = c.sum()
l2 = (c * c).sum()
l1.backward()
try:
    l2.backward()
    print("no error")
except RuntimeError as e:
    print(str(e)[:60])
print(sum(1 for _ in net.modules()), net[0].weight.grad_fn)
# A leaf's hooks see what a pass adds, once, and not the sum; so do `grad`, `inputs=` and `create_graph`.
w = torch.ones(2, requires_grad=True)
h = w.register_hook(lambda g: g * 2)
w.register_post_accumulate_grad_hook(lambda leaf: print("then", leaf.grad.tolist()))
for _ in range(3):
    (w * 3).sum().backward()
held = w.grad
(MySq.apply(w) + w).sum().backward()
print(held is w.grad, torch.autograd.grad((w**2).sum(), w))
w.grad = None
(w**2).sum().backward(inputs=[w])
w.grad = None
(w**3).sum().backward(create_graph=True)
h.remove()
del w.grad
(w**2).sum().backward()
y = w**2
print(torch.autograd.grad(y, w, torch.eye(2), is_grads_batched=True))
# Gradients are asked for under no_grad too.
y, z, e = w**3, (w**2).sum(), w**2
with torch.no_grad():
    print(torch.autograd.grad(y, w, torch.ones(2)), torch.autograd.grad(z, w))
    e.backward(torch.ones(2))
