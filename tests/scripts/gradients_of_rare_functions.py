# Gradients of functions that are seldom differentiated, as PyTorch has them.
import torch


def show(name, made):
    print(name, list(made.shape), [None if v != v else round(v, 3) + 0.0 for v in made.detach().reshape(-1).tolist()])


def gradients(name, function, *inputs):
    inputs = [x.clone().requires_grad_() for x in inputs]
    y = function(*inputs)
    show(name, y)
    weights = torch.arange(1.0, y.numel() + 1).reshape(y.shape)
    for g in torch.autograd.grad((y * weights).sum(), inputs, allow_unused=True):
        show("  gradient", torch.zeros(0) if g is None else g)


x = torch.tensor([[2.0, -0.5, 1.0], [0.25, 3.0, -1.5], [0.5, 1.0, 4.0]])
s = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
gradients("as_strided_scatter", lambda x, s: torch.as_strided_scatter(x, s, (2, 2), (2, 1), 1), x, s)
gradients("as_strided_scatter", lambda x, s: x.as_strided_scatter(s, (2, 2), (3, 2)), x, s)
gradients("cholesky_solve", torch.cholesky_solve, s[:1].t().expand(2, 1).clone(), s)
gradients("cholesky_solve upper", lambda b, l: torch.cholesky_solve(b, l, upper=True), x, x)
gradients("cholesky_solve of a batch", lambda b, l: b.cholesky_solve(l), x[:, :2], torch.stack([x, x + torch.eye(3)]))
gradients("cholesky_inverse", torch.cholesky_inverse, x)
gradients("cholesky_inverse upper", lambda l: torch.cholesky_inverse(l, upper=True), x)
gradients("frexp", lambda x: torch.frexp(x).mantissa, x)
gradients("logcumsumexp", lambda x: torch.logcumsumexp(x, 1), x * 40)
gradients("logcumsumexp", lambda x: x.logcumsumexp(0), x)
show("logcumsumexp", torch.logcumsumexp(torch.tensor([-300.0, 0.0, 5.0, -float("inf")]), 0))
show("logcumsumexp", torch.logcumsumexp(torch.tensor([-float("inf"), -float("inf"), 5.0]), 0))
gradients("combinations", lambda x: torch.combinations(x, 4), x[0])
gradients("combinations", torch.combinations, x[0])
gradients("cov", lambda x: torch.cov(x, aweights=torch.tensor([1.0, 2.0, 0.5])), x)
p = torch.tensor([0.0, 1.0], requires_grad=True)
drawn = torch.bernoulli(p)
print(drawn.tolist(), drawn.requires_grad, torch.autograd.grad(drawn.sum(), p)[0].tolist())
