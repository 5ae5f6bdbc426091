import torch
a = torch.tensor([1.,2.], requires_grad=True)
a.register_hook(lambda g: print("leaf", g))
(a*2).sum().backward(); (a*3).sum().backward(); print(a.grad)
a = torch.tensor([1.,2.], requires_grad=True)
a.register_hook(lambda g: g*10)
(a*2).sum().backward(); (a*3).sum().backward(); print(a.grad)
print(torch.autograd.grad((a*2).sum(), a))
a = torch.tensor([1.,2.], requires_grad=True)
b = a*2
b.register_hook(lambda g: g*10)
b.retain_grad()
b.sum().backward(); print(b.grad, a.grad, b.retains_grad)
a.grad=None
b = a*2
b.retain_grad()
b.register_hook(lambda g: g*10)
b.register_hook(lambda g: print("second", g))
c = b*3; c.retain_grad(); c.register_hook(lambda g: g+1)
c.sum().backward(); print(b.grad, a.grad, c.grad)
a.grad = None
b = a*2; b.retain_grad(); h = b.register_hook(lambda g: g*10); h.remove(); b.sum().backward(); print(b.grad, a.grad)
b = a*2; b.retain_grad(); b.register_hook(lambda g: g*10); l = b.sum(); l.backward(retain_graph=True); print(b.grad); l.backward(); print(b.grad)
lin = torch.nn.Linear(2, 2)
torch.nn.init.ones_(lin.weight)
x = torch.ones(1, 2, requires_grad=True)
lin.weight.register_hook(lambda g: g.clamp(max=0.5))
h = lin(x); h.retain_grad(); h.register_hook(lambda g: g * 0.25)
h.sum().backward(); print(h.grad, lin.weight.grad, x.grad)
print(torch.autograd.grad(lin(x).sum(), [lin.weight])[0])
p = torch.nn.Parameter(torch.ones(2))
p.register_post_accumulate_grad_hook(lambda t: print("after", t.grad.detach()))
p.register_hook(lambda g: g * 2)
for _ in range(2):
    (p * 3).sum().backward()
q = p * 2
q.register_hook(lambda g: print("on the way", g))
(q.sum() + p.sum()).backward()
print(p.grad)
p.grad = None
((p ** 2).sum()).backward(create_graph=True)
print(p.grad.detach())
