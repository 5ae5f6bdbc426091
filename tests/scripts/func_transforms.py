import torch
from torch import nn
from torch.func import functional_call, grad, grad_and_value, hessian, jacfwd, jacrev, jvp, stack_module_state, vjp, vmap

torch.manual_seed(0)
x = torch.tensor([0.5, -1.0, 2.0])


def f(x):
    return (x ** 3).sum()


print(grad(f)(x), grad(lambda x: grad(f)(x).sum())(x))
print(grad_and_value(f)(x))
print(grad(lambda a, b: (a * b).sum(), argnums=(0, 1))(x, x + 1))
print(grad(lambda x: ((x ** 2).sum(), x.sum()), has_aux=True)(x))
print(jacrev(lambda x: x ** 2)(x))
print(jacfwd(torch.sin)(x))
print(hessian(f)(x))
value, pull = vjp(torch.exp, x)
print(value, pull(torch.ones(3)))
print(jvp(lambda x: x.sin() * x, (x,), (torch.ones(3),)))
print(torch.autograd.functional.jacobian(lambda x: x.cumsum(0) ** 2, x))
print(torch.autograd.functional.hessian(f, x))
print(torch.autograd.functional.vjp(lambda x: x ** 2, x, torch.ones(3)))

batch = torch.randn(4, 3)
print(vmap(lambda a: a.dot(x))(batch))
print(vmap(lambda a, b: a * b, in_dims=(0, None))(batch, x).shape, vmap(torch.sum, in_dims=1)(batch))
print(vmap(lambda a: (a.sum(), a.max()), out_dims=(0, 0))(batch))
print(vmap(grad(f))(batch))

model = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))
params = dict(model.named_parameters())
print(functional_call(model, params, (batch,)).detach())
zeros = {k: torch.zeros_like(v) for k, v in params.items()}
print(functional_call(model, zeros, batch).detach())


def loss(params, x, y):
    return ((functional_call(model, params, (x,)) - y) ** 2).mean()


y = torch.randn(4, 1)
detached = {k: v.detach() for k, v in params.items()}
found = grad(loss)(detached, batch, y)
print({k: tuple(v.shape) for k, v in found.items()}, found["2.bias"])
each = vmap(grad(loss), in_dims=(None, 0, 0))(detached, batch, y)
print(each["0.weight"].shape, torch.allclose(each["0.weight"].mean(0), found["0.weight"], atol=1e-6))
stacked, buffers = stack_module_state([nn.Linear(3, 2) for _ in range(3)])
print(stacked["weight"].shape, stacked["bias"].shape)

# One step of MAML: a gradient through a gradient.
w = torch.tensor([1.0, -2.0], requires_grad=True)


def inner(w):
    return (w ** 2).sum() + w[0] * w[1]


step = w - 0.1 * torch.autograd.grad(inner(w), w, create_graph=True)[0]
inner(step).backward()
print(w.grad)
