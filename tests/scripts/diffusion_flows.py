import torch, torch.nn as nn, torch.nn.functional as F, math

torch.manual_seed(0)


# DDPM
def linear_beta_schedule(T):
    return torch.linspace(1e-4, 0.02 * 1000 / T, T)


def cosine_beta_schedule(timesteps, s=0.008):
    steps = timesteps + 1
    x = torch.linspace(0, timesteps, steps)
    ac = torch.cos(((x / timesteps) + s) / (1 + s) * torch.pi * 0.5) ** 2
    ac = ac / ac[0]
    betas = 1 - (ac[1:] / ac[:-1])
    return torch.clip(betas, 0.0001, 0.9999)


T = 20
betas = cosine_beta_schedule(T)
alphas = 1.0 - betas
acp = torch.cumprod(alphas, axis=0)
acp_prev = F.pad(acp[:-1], (1, 0), value=1.0)
sra = torch.sqrt(1.0 / alphas)
sac = torch.sqrt(acp)
somac = torch.sqrt(1.0 - acp)
pv = betas * (1.0 - acp_prev) / (1.0 - acp)
print(betas, pv[:3])


def extract(a, t, x_shape):
    b = t.shape[0]
    out = a.gather(-1, t.cpu())
    return out.reshape(b, *((1,) * (len(x_shape) - 1))).to(t.device)


class SinusoidalPositionEmbeddings(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.dim = dim

    def forward(self, time):
        h = self.dim // 2
        e = math.log(10000) / (h - 1)
        e = torch.exp(torch.arange(h, device=time.device) * -e)
        e = time[:, None] * e[None, :]
        return torch.cat((e.sin(), e.cos()), dim=-1)


class Net(nn.Module):
    def __init__(self, d=2, h=32):
        super().__init__()
        self.t = nn.Sequential(SinusoidalPositionEmbeddings(8), nn.Linear(8, h), nn.SiLU())
        self.i = nn.Linear(d, h)
        self.m = nn.Sequential(nn.Linear(h, h), nn.SiLU(), nn.Linear(h, d))

    def forward(self, x, t):
        return self.m(self.i(x) + self.t(t))


def q_sample(x0, t, noise=None):
    if noise is None:
        noise = torch.randn_like(x0)
    return extract(sac, t, x0.shape) * x0 + extract(somac, t, x0.shape) * noise


net = Net()
ema = [p.clone().detach() for p in net.parameters()]
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
for i in range(5):
    x0 = torch.randn(16, 2) * torch.tensor([1.0, 0.2])
    t = torch.randint(0, T, (16,)).long()
    n = torch.randn_like(x0)
    loss = F.smooth_l1_loss(net(q_sample(x0, t, n), t), n)
    opt.zero_grad()
    loss.backward()
    opt.step()
    with torch.no_grad():
        for e, p in zip(ema, net.parameters()):
            e.mul_(0.9).add_(p.data, alpha=0.1)
    print(i, f"{loss.item():.4f}", f"{sum(e.norm() for e in ema).item():.4f}")


@torch.no_grad()
def p_sample(model, x, t, ti):
    mean = extract(sra, t, x.shape) * (x - extract(betas, t, x.shape) * model(x, t) / extract(somac, t, x.shape))
    return mean if ti == 0 else mean + torch.sqrt(extract(pv, t, x.shape)) * torch.randn_like(x)


x = torch.randn(3, 2)
for i in reversed(range(0, T)):
    x = p_sample(net, x, torch.full((3,), i, dtype=torch.long), i)
print(x)
# denoising score matching with sliced
sigmas = torch.exp(torch.linspace(math.log(1.0), math.log(0.01), 5))
print(sigmas)
score = nn.Sequential(nn.Linear(2, 16), nn.Softplus(), nn.Linear(16, 2))
xs = torch.randn(8, 2, requires_grad=True)
s = score(xs)
v = torch.randn_like(xs)
g = torch.autograd.grad((s * v).sum(), xs, create_graph=True)[0]
ssm = ((g * v).sum(-1) + 0.5 * (s * v).sum(-1) ** 2).mean()
ssm.backward()
print(ssm.item(), score[0].weight.grad.norm().item())


# normalizing flow RealNVP
class Coupling(nn.Module):
    def __init__(self, mask):
        super().__init__()
        self.register_buffer("mask", mask)
        self.s = nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 2), nn.Tanh())
        self.t = nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 2))

    def forward(self, x):
        xm = x * self.mask
        s = self.s(xm) * (1 - self.mask)
        t = self.t(xm) * (1 - self.mask)
        return xm + (1 - self.mask) * (x * torch.exp(s) + t), s.sum(-1)

    def inverse(self, y):
        ym = y * self.mask
        s = self.s(ym) * (1 - self.mask)
        t = self.t(ym) * (1 - self.mask)
        return ym + (1 - self.mask) * (y - t) * torch.exp(-s)


class Flow(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(Coupling(torch.tensor(m, dtype=torch.float32)) for m in ([1, 0], [0, 1]) * 2)
        self.prior = torch.distributions.MultivariateNormal(torch.zeros(2), torch.eye(2))

    def log_prob(self, x):
        ld = torch.zeros(x.shape[0])
        for l in self.layers:
            x, d = l(x)
            ld += d
        return self.prior.log_prob(x) + ld

    def sample(self, n):
        z = self.prior.sample((n,))
        for l in reversed(self.layers):
            z = l.inverse(z)
        return z


f = Flow()
o = torch.optim.Adam(f.parameters(), 1e-2)
d = torch.randn(32, 2) @ torch.tensor([[1.0, 0.5], [0.0, 0.3]])
for i in range(4):
    l = -f.log_prob(d).mean()
    o.zero_grad()
    l.backward()
    o.step()
    print(f"nll {l:.3f}")
print(f.sample(2), f)
