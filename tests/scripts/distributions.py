import torch
from torch import distributions as D
from torch.distributions import Bernoulli, Categorical, Independent, MultivariateNormal, Normal, Uniform, kl_divergence
from torch.distributions.categorical import Categorical as Other

torch.manual_seed(0)
n = Normal(torch.tensor([0.0, 1.0]), torch.tensor([1.0, 0.5]))
print(n, Normal(0.0, 1.0), n.batch_shape, n.event_shape)
x = n.sample()
print(x, n.sample((2,)), n.log_prob(x), n.entropy(), n.mean, n.stddev, n.variance)
print(n.cdf(x), n.icdf(torch.tensor(0.3)))
loc = torch.zeros(3, requires_grad=True)
r = Normal(loc, 1.0).rsample()
r.sum().backward()
print(r.detach(), loc.grad, r.requires_grad)

logits = torch.tensor([[0.1, 1.0, -0.5], [2.0, 0.0, 0.0]], requires_grad=True)
c = Categorical(logits=logits)
a = c.sample()
print(a, c.sample((4,)), c.log_prob(a).detach(), c.entropy().detach(), c.probs.detach())
c.log_prob(a).sum().backward()
print(logits.grad, Other(probs=torch.tensor([0.2, 0.8])), c.mode)
b = Bernoulli(probs=torch.tensor([0.2, 0.7]))
print(b, b.sample(), b.log_prob(torch.tensor([1.0, 0.0])), b.entropy(), b.mean)
print(Bernoulli(logits=torch.tensor(0.3)).sample((5,)), Bernoulli(0.5).logits)
u = Uniform(-1.0, torch.tensor([1.0, 3.0]))
print(u, u.sample(), u.log_prob(torch.tensor([0.0, 2.0])), u.mean, u.entropy())
for d in (D.Exponential(2.0), D.Laplace(0.0, 2.0), D.LogNormal(0.0, 0.5), D.HalfNormal(1.5), D.Gumbel(1.0, 2.0), D.Geometric(torch.tensor(0.3))):
    s = d.sample((3,))
    print(d, s, d.log_prob(s), d.mean, d.variance)
print(D.OneHotCategorical(torch.tensor([0.1, 0.9])).sample((3,)))
i = Independent(Normal(torch.zeros(2, 3), torch.ones(2, 3)), 1)
s = i.sample()
print(i, s, i.log_prob(s), i.entropy(), i.event_shape)
m = MultivariateNormal(torch.zeros(2), torch.tensor([[2.0, 0.5], [0.5, 1.0]]))
s = m.sample((2,))
print(m, s, m.log_prob(s), m.entropy(), m.variance)
print(kl_divergence(n, Normal(0.0, 1.0)), kl_divergence(c, Categorical(logits=torch.zeros(2, 3))).detach())
print(kl_divergence(b, Bernoulli(0.5)), kl_divergence(m, MultivariateNormal(torch.ones(2), torch.eye(2))), kl_divergence(i, i))
print(kl_divergence(u, Uniform(-2.0, 4.0)), kl_divergence(D.Exponential(1.0), D.Exponential(2.0)))
mix = D.MixtureSameFamily(Categorical(torch.tensor([0.3, 0.7])), Normal(torch.tensor([-1.0, 1.0]), torch.tensor([0.5, 0.5])))
print(mix.log_prob(torch.tensor(0.2)), mix.sample((4,)), mix.mean)
for bad in (lambda: Normal(0.0, -1.0), lambda: Categorical(torch.tensor([0.1, -0.2])), lambda: Categorical(), lambda: kl_divergence(n, c)):
    try:
        bad()
    except (ValueError, NotImplementedError) as error:
        print(type(error).__name__, str(error).splitlines()[0])
