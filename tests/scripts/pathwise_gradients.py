import torch
from torch.distributions import Gamma, Beta, Dirichlet, StudentT, Chi2, Poisson, InverseGamma, FisherSnedecor, kl_divergence
import torch.nn.functional as F
torch.manual_seed(0)
cts = torch.poisson(torch.full((50,), 3.0))
qa, qb = torch.tensor(0.0, requires_grad=True), torch.tensor(0.0, requires_grad=True)
opt = torch.optim.Adam([qa, qb], 0.05)
for it in range(20):
    q = Gamma(F.softplus(qa) * 10, F.softplus(qb) + 0.5)
    lam = q.rsample((8,))
    elbo = Poisson(lam[:, None]).log_prob(cts).sum(1).mean() - kl_divergence(q, Gamma(torch.tensor(1.0), torch.tensor(1.0)))
    opt.zero_grad(); (-elbo).backward(); opt.step()
    if it % 5 == 4: print(it, f"{elbo.item():.4f} {q.mean.item():.5f} {qa.grad.item():.5f}")
for make, ps in ((lambda a, b: Beta(a, b), ([0.4, 3.0, 9.0], [2.0, 0.5, 12.0])), (lambda a, b: InverseGamma(a + 2, b), ([0.4, 3.0, 9.0], [2.0, 0.5, 12.0])),
                 (lambda a, b: StudentT(a + 1, b), ([0.4, 3.0, 9.0], [2.0, 0.5, 12.0])), (lambda a, b: FisherSnedecor(a + 3, b + 3), ([0.4, 3.0, 9.0], [2.0, 0.5, 12.0])),
                 (lambda a, b: Chi2(a * b), ([0.4, 3.0, 9.0], [2.0, 0.5, 12.0])), (lambda a, b: Gamma(a, b), ([0.1, 0.9, 30.0], [2.0, 0.5, 12.0]))):
    torch.manual_seed(3)
    p = [torch.tensor(v, requires_grad=True) for v in ps]
    d = make(*p); s = d.rsample((5,)); (s.pow(2) * torch.arange(1.0, 6.0)[:, None]).sum().backward()
    print(type(d).__name__, s[0].data, *(v.grad for v in p))
logits = torch.zeros(4, requires_grad=True); target = torch.tensor([0.1, 0.2, 0.3, 0.4]); opt = torch.optim.Adam([logits], 0.1)
for it in range(20):
    d = Dirichlet(logits.exp() * 5); x = d.rsample((16,)); loss = (x - target).pow(2).sum(-1).mean() - 0.01 * d.entropy()
    opt.zero_grad(); loss.backward(); opt.step()
    if it % 5 == 4: print(it, f"{loss.item():.5f}", logits.data)
with torch.no_grad(): print(Gamma(qa.exp(), qb.exp()).rsample().requires_grad, Gamma(qa.exp(), qb.exp()).sample((2,)).shape)
actor = torch.nn.Linear(3, 2); opt = torch.optim.Adam(actor.parameters(), 0.02); obs = torch.randn(32, 3)
for it in range(15):
    ab = F.softplus(actor(obs)) + 1; pi = Beta(ab[:, 0], ab[:, 1]); act = pi.rsample(); loss = (act - obs[:, 0].sigmoid()).pow(2).mean() + 0.01 * pi.log_prob(act.detach().clamp(1e-4, 1 - 1e-4)).mean()
    opt.zero_grad(); loss.backward(); opt.step()
    if it % 5 == 4: print(it, f"{loss.item():.5f}")
