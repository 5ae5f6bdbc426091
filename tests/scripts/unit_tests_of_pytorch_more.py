# What PyTorch's unit tests of losses, random numbers, views and distributions ask: arguments out of range, orders of memory, infinite values.
import numpy as np
import torch
import torch.distributions as D
import torch.nn.functional as F

T = torch.tensor


def show(name, f):
    try:
        made = f()
        print(name, [round(v, 4) + 0.0 for v in made.flatten().tolist()] if isinstance(made, torch.Tensor) else made)
    except Exception as e:
        print(name, type(e).__name__, str(e).split("\n")[0])


# Lengths and classes of ctc_loss; variances.
def ctc(**given):
    torch.manual_seed(0)
    call = dict(log_probs=torch.randn(5, 2, 4).log_softmax(2), targets=T([[1, 2], [1, 3]]), input_lengths=T([5, 5]), target_lengths=T([2, 2]))
    return F.ctc_loss(**{**call, **given})


for given in ({}, {"input_lengths": T([5, 6])}, {"input_lengths": T([5])}, {"input_lengths": T([5, -1])}, {"input_lengths": T([5.0, 5.0])},
              {"target_lengths": T([3, 2])}, {"target_lengths": T([2])}, {"target_lengths": T([2, -1])}, {"blank": 4}, {"blank": -1},
              {"targets": T([1, 2, 1])}, {"targets": T([1, 2, 1, 3])}, {"targets": T([1, 2, 1]), "target_lengths": [1, 2], "input_lengths": [5, 4]},
              {"target_lengths": [2, 1], "input_lengths": [4, 5]}, {"reduction": "x"}):
    show(f"ctc {sorted(given)}", lambda: ctc(**given))
one = torch.ones(3, 2)
for var in (-one, T([[1.0, -1.0]]), torch.ones(4), torch.ones(3), torch.ones(3, 1), one * 2):
    show(f"gaussian {tuple(var.shape)}", lambda: F.gaussian_nll_loss(one, one * 2, var))


# What is drawn in place, in the order in which memory has it.
def drawn(draw, *size):
    torch.manual_seed(3)
    x = torch.zeros(*size)
    draw(x)
    return x


for name, draw in (("normal", lambda x: x.t().normal_(1, 2)), ("few", lambda x: x[:, 1:3].normal_()), ("uniform", lambda x: x.t().uniform_(2, 3)),
                   ("bernoulli", lambda x: x.t().bernoulli_(0.3)), ("exponential", lambda x: x[:, ::2].exponential_(2)),
                   ("random", lambda x: x.t().random_(0, 9)), ("back", lambda x: x.t()[1:, 2:].normal_())):
    show(name, lambda: drawn(draw, 5, 8))
for name, arguments in (("uniform_", (1, 0)), ("normal_", (0, -1)), ("exponential_", (-1,)), ("bernoulli_", (2.0,)), ("geometric_", (0.0,)),
                        ("cauchy_", (0, 0)), ("log_normal_", (0, -1))):
    show(name, lambda: getattr(torch.empty(3), name)(*arguments))

# Strides of what is made like a tensor.
turned = torch.ones(2, 3, 4).permute(2, 0, 1)
for x in (torch.ones(3, 4).t(), turned, torch.ones(4, 6)[:, ::2], torch.ones(1, 4).expand(3, 4), torch.ones(3, 1).expand(3, 4),
          turned[::2]):
    print([f(x).stride() for f in (torch.zeros_like, torch.ones_like, torch.empty_like, torch.rand_like, torch.randn_like)],
          torch.full_like(x, 2.0).stride(), torch.zeros_like(x, memory_format=torch.contiguous_format).stride())

# What `out=` names.
for make in (lambda o: torch.arange(3, out=o), lambda o: torch.logspace(0, 1, 3, out=o), lambda o: torch.zeros(2, 2, out=o),
             lambda o: torch.eye(2, out=o), lambda o: torch.linspace(0, 1, 4, out=o), lambda o: torch.full((2,), 7.0, out=o)):
    out = torch.ones(3)
    print(make(out) is out, out.tolist())
for edges in ({"prepend": [1.0]}, {"append": 3.0, "n": 2}, {"prepend": 0, "append": [9.0, 9.0]}):
    print(np.diff(np.arange(4.0), **edges).tolist())
print(np.diff(np.arange(6.0).reshape(2, 3), axis=0, prepend=1).tolist())

# One of several views that were made at once.
x = torch.ones(4, 2, requires_grad=True)
for several in (lambda y: y.split(2), lambda y: y.unbind(0), lambda y: y.chunk(2), lambda y: list(y), lambda y: y.tensor_split(2)):
    show("views", lambda: several(x * 2)[1].mul_(2).sum())
    show("views", lambda: several(x.detach() * 2)[1].mul_(2).sum())
    with torch.no_grad():
        show("views", lambda: several(x * 2)[1].mul_(2).sum())


# Distributions at their limits.
def slope(dist, name, p, x):
    p = T(p, requires_grad=True)
    y = dist(**{name: p}).log_prob(T(x))
    y.sum().backward()
    return torch.cat([y.detach(), p.grad])


show("bernoulli", lambda: slope(D.Bernoulli, "logits", [-1e30, 2.0], [0.0, 1.0]))
show("geometric", lambda: slope(D.Geometric, "probs", [1.0, 0.5], [0.0, 2.0]))
show("geometric", lambda: D.Geometric(T([0.0, 1.0])))
show("binomial", lambda: slope(lambda logits: D.Binomial(1.0, logits=logits), "logits", [0.0, -100.0, 100.0], [0.0, 0.0, 0.0]))
wide = torch.float64
for n in (0.0, 1.0):
    show("binomial", lambda: D.Binomial(100, T(n, dtype=wide)).log_prob(T([0.0, 100.0], dtype=wide)).exp())
show("categorical", lambda: D.Categorical(logits=T([0.0, float("-inf"), 1.0], dtype=wide)).entropy())
lazy = D.Bernoulli(logits=T([0.5, 1.0]))
lazy.enumerate_support()
print("probs" in lazy.__dict__)
show("gamma", lambda: D.Gamma(1, 1).log_prob(1))
probs = T([0.2, 0.8], requires_grad=True)
print(D.OneHotCategoricalStraightThrough(probs).rsample().requires_grad)
with torch.no_grad():
    late = D.Bernoulli(probs)
    late.logits
print(late.logits.requires_grad)
covariance = torch.eye(2, requires_grad=True)
normal = D.MultivariateNormal(torch.zeros(2), covariance)
with torch.no_grad():
    normal.precision_matrix
print(normal.precision_matrix.requires_grad)
normal.log_prob(T([1.0, 2.0])).backward()
print(covariance.grad)
print(D.AffineTransform(0.0, 1.0) == D.AffineTransform(0.0, 1.0), D.AffineTransform(0.0, 1.0) == D.AffineTransform(0.0, 2.0),
      D.ExpTransform() == D.ExpTransform(), D.ExpTransform() == D.TanhTransform())
made = {
    "Bernoulli": [D.Bernoulli(T([0.0, 1.0, 0.3])), D.Bernoulli(T([1.0, 0.4, 0.0]))], "Beta": [D.Beta(1.5, 2.0), D.Beta(2.0, 1.0)],
    "Binomial": [D.Binomial(3, 0.2), D.Binomial(3, 0.4)], "Categorical": [D.Categorical(T([0.9, 0.1])), D.Categorical(T([1.0, 0.0]))],
    "Cauchy": [D.Cauchy(0.0, 1.0), D.Cauchy(1.0, 2.0)],
    "ContinuousBernoulli": [D.ContinuousBernoulli(0.3), D.ContinuousBernoulli(0.6)], "Exponential": [D.Exponential(1.5), D.Exponential(1.0)],
    "Gamma": [D.Gamma(1.5, 2.0), D.Gamma(2.0, 1.0)], "Geometric": [D.Geometric(0.3), D.Geometric(0.5)],
    "Gumbel": [D.Gumbel(0.0, 1.0), D.Gumbel(1.0, 2.0)], "HalfNormal": [D.HalfNormal(1.0), D.HalfNormal(2.0)],
    "Laplace": [D.Laplace(0.5, 1.0), D.Laplace(0.0, 2.0)], "LogNormal": [D.LogNormal(0.0, 1.0), D.LogNormal(1.0, 2.0)],
    "LowRank": [D.LowRankMultivariateNormal(torch.zeros(2), torch.ones(2, 1), torch.ones(2)),
                D.LowRankMultivariateNormal(torch.ones(2), T([[1.0], [2.0]]), torch.ones(2) * 2)],
    "Multivariate": [D.MultivariateNormal(torch.zeros(2), torch.eye(2)), D.MultivariateNormal(torch.ones(2), torch.eye(2) * 2)],
    "NegativeBinomial": [D.NegativeBinomial(3, 0.2), D.NegativeBinomial(3, 0.4)], "Normal": [D.Normal(0.5, 1.0), D.Normal(0.0, 2.0)],
    "Pareto": [D.Pareto(1.0, 3.0), D.Pareto(0.5, 1.0)], "Poisson": [D.Poisson(2.0), D.Poisson(1.0)],
    "Uniform": [D.Uniform(0.25, 0.75), D.Uniform(0.0, 1.0)],
}
for a, (p, _) in made.items():
    for b, (_, q) in made.items():
        try:
            print(a, b, [round(v, 3) + 0.0 for v in D.kl_divergence(p, q).flatten().tolist()])
        except NotImplementedError:
            pass


# Hooks of all modules' gradients.
def everywhere(kind, change):
    seen = []
    handle = getattr(torch.nn.modules.module, kind)(lambda m, *g: (seen.append((type(m).__name__, len(g))), change(*g))[1])
    torch.manual_seed(0)
    net = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Tanh())
    net[1].register_full_backward_hook(lambda m, a, b: seen.append("own"))
    x = torch.ones(1, 2, requires_grad=True)
    net(x).sum().backward()
    handle.remove()
    net(x).sum()
    print(seen)
    show(kind, lambda: torch.cat([x.grad.flatten(), net[0].bias.grad]))


everywhere("register_module_full_backward_hook", lambda a, b: None)
everywhere("register_module_full_backward_hook", lambda a, b: (a[0] * 2,))
everywhere("register_module_full_backward_pre_hook", lambda b: (b[0] * 3,))

part, rest = (torch.arange(4.0, requires_grad=True) * 2).unsafe_chunk(2)
part *= 3
print(part.tolist(), rest.tolist(), torch.unsafe_split(torch.arange(3), 2)[1])
