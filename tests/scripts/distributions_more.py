import torch, torch.distributions as D, torch.nn as nn, torch.nn.functional as F
torch.manual_seed(0)
def show(name, d, v=None):
    try:
        s = d.sample((3,))
        print(name, s.shape, [round(x,4) for x in s.flatten().tolist()][:6])
        lp = d.log_prob(s if v is None else v)
        print("  lp", lp.shape, [round(x,4) for x in lp.flatten().tolist()][:6])
        for a in ("mean","variance","stddev"):
            try: print("  ",a, [round(x,4) for x in getattr(d,a).flatten().tolist()][:4])
            except NotImplementedError: print("  ",a,"none")
        try: print("   ent", [round(x,4) for x in d.entropy().flatten().tolist()][:4])
        except NotImplementedError: print("   no entropy")
        print("   ", d.batch_shape, d.event_shape, d.expand((2,)+tuple(d.batch_shape)).sample().shape)
    except Exception as e:
        print(name, type(e).__name__, e)
t=torch.tensor
show("pareto", D.Pareto(t([1.0,2.0]), t([3.0,2.5])))
show("weibull", D.Weibull(t([1.0,2.0]), t([3.0,2.5])))
show("kuma", D.Kumaraswamy(t([1.0,2.0]), t([3.0,2.5])))
show("invgamma", D.InverseGamma(t([3.0,4.0]), t([3.0,2.5])))
show("halfcauchy", D.HalfCauchy(t([1.0,2.0])))
show("cauchy", D.Cauchy(t([1.0,2.0]), t([1.0,2.0])))
show("logisticnormal", D.LogisticNormal(t([0.0,0.5]), t([1.0,0.2])))
show("relbern", D.RelaxedBernoulli(t(0.5), probs=t([0.3,0.6])))
show("relcat", D.RelaxedOneHotCategorical(t(0.5), logits=t([0.3,0.6,0.1])))
show("fisher", D.FisherSnedecor(t([5.0,6.0]), t([7.0,8.0])))
show("negbin", D.NegativeBinomial(t([5.0,6.0]), probs=t([0.3,0.5])))
show("multinomial", D.Multinomial(10, probs=t([0.3,0.5,0.2])))
show("ind", D.Independent(D.Normal(torch.zeros(2,3), torch.ones(2,3)),1))
show("mvn", D.MultivariateNormal(torch.zeros(2), torch.tensor([[2.0,0.5],[0.5,1.0]])))
show("gamma", D.Gamma(t([1.0,2.0]), t([1.0,2.0])))
show("beta", D.Beta(t([1.0,2.0]), t([1.0,2.0])))
for p,q in [(D.Gamma(t(1.0),t(2.0)),D.Gamma(t(2.0),t(1.5))),(D.Beta(t(1.0),t(2.0)),D.Beta(t(2.0),t(1.5))),(D.Dirichlet(t([1.0,2.0])),D.Dirichlet(t([2.0,1.5]))),(D.Poisson(t(1.0)),D.Poisson(t(2.0))),(D.Geometric(t(0.3)),D.Geometric(t(0.6))),(D.HalfNormal(t(1.0)),D.HalfNormal(t(2.0))),(D.Gumbel(t(1.0),t(2.0)),D.Gumbel(t(2.0),t(1.5)))]:
    print(type(p).__name__, round(D.kl_divergence(p,q).item(),5))
from torch.distributions import constraints, transform_to, biject_to
x=torch.randn(3)
for c in (constraints.positive, constraints.unit_interval, constraints.simplex, constraints.real, constraints.interval(-1,2.), constraints.greater_than(1.0), constraints.less_than(3.)):
    y=transform_to(c)(x); print(c, y, c.check(y)); b=biject_to(c); z=b(x); print(b.inv(z), z)
print(constraints.positive.check(t([-1.,1.])))
