import torch, torch.nn as nn, torch.nn.functional as F, numpy as np, math
tqdm = lambda it, **kw: it
from functools import partial
from inspect import isfunction
torch.manual_seed(0)
def exists(x): return x is not None
def default(v, d): return v if exists(v) else (d() if isfunction(d) else d)
def cosine_beta_schedule(T, s=0.008):
    x = torch.linspace(0, T, T + 1); a = torch.cos(((x / T) + s) / (1 + s) * torch.pi * 0.5) ** 2; a = a / a[0]
    return torch.clip(1 - a[1:] / a[:-1], 0.0001, 0.9999)
T = 50; betas = cosine_beta_schedule(T); alphas = 1. - betas; ac = torch.cumprod(alphas, 0); ac_prev = F.pad(ac[:-1], (1, 0), value=1.0)
post_var = betas * (1. - ac_prev) / (1. - ac); print(betas[:3], ac[-3:], post_var.sum())
def extract(a, t, shape): return a.gather(-1, t.cpu()).reshape(t.shape[0], *((1,) * (len(shape) - 1))).to(t.device)
class SinPos(nn.Module):
    def __init__(self, d): super().__init__(); self.d = d
    def forward(self, t):
        h = self.d // 2; e = math.log(10000) / (h - 1); e = torch.exp(torch.arange(h, device=t.device) * -e); e = t[:, None] * e[None, :]
        return torch.cat((e.sin(), e.cos()), dim=-1)
class ResBlock(nn.Module):
    def __init__(self, i, o, td, groups=4):
        super().__init__(); self.mlp = nn.Sequential(nn.SiLU(), nn.Linear(td, o * 2)); self.c1 = nn.Conv2d(i, o, 3, padding=1); self.n1 = nn.GroupNorm(groups, o); self.c2 = nn.Conv2d(o, o, 3, padding=1); self.res = nn.Conv2d(i, o, 1) if i != o else nn.Identity()
    def forward(self, x, t):
        sc, sh = self.mlp(t)[..., None, None].chunk(2, dim=1); h = F.silu(self.n1(self.c1(x)) * (sc + 1) + sh); return self.c2(h) + self.res(x)
class UNet(nn.Module):
    def __init__(self, c=8, td=16):
        super().__init__(); self.t = nn.Sequential(SinPos(c), nn.Linear(c, td), nn.GELU(), nn.Linear(td, td)); self.inp = nn.Conv2d(1, c, 3, padding=1); self.d1 = ResBlock(c, c, td); self.down = nn.Conv2d(c, 2 * c, 4, 2, 1); self.mid = ResBlock(2 * c, 2 * c, td); self.attn = nn.MultiheadAttention(2 * c, 2, batch_first=True)
        self.up = nn.ConvTranspose2d(2 * c, c, 4, 2, 1); self.u1 = ResBlock(2 * c, c, td); self.out = nn.Conv2d(c, 1, 1)
    def forward(self, x, t):
        t = self.t(t); x = self.inp(x); h = self.d1(x, t); x = self.mid(self.down(h), t); b, c, hh, w = x.shape; q = x.flatten(2).transpose(1, 2); x = x + self.attn(q, q, q, need_weights=False)[0].transpose(1, 2).reshape(b, c, hh, w)
        return self.out(self.u1(torch.cat((self.up(x), h), 1), t))
def q_sample(x0, t, noise=None):
    noise = default(noise, lambda: torch.randn_like(x0)); return extract(ac.sqrt(), t, x0.shape) * x0 + extract((1 - ac).sqrt(), t, x0.shape) * noise
net = UNet(); ema = UNet(); ema.load_state_dict(net.state_dict()); opt = torch.optim.Adam(net.parameters(), lr=1e-3)
data = torch.zeros(32, 1, 8, 8); data[:, :, 2:6, 2:6] = 1; data = data * 2 - 1
for step in range(8):
    idx = torch.randperm(32)[:8]; x0 = data[idx]; t = torch.randint(0, T, (8,)).long(); noise = torch.randn_like(x0)
    loss = F.smooth_l1_loss(noise, net(q_sample(x0, t, noise), t)); opt.zero_grad(); loss.backward(); opt.step()
    with torch.no_grad():
        for p, e in zip(net.parameters(), ema.parameters()): e.data = e.data * 0.9 + p.data * 0.1
    if step % 2 == 0: print(f'{step:>4} {loss.item():.5f}')
@torch.no_grad()
def p_sample(model, x, t, ti):
    bt = extract(betas, t, x.shape); mean = extract((1 / alphas).sqrt(), t, x.shape) * (x - bt * model(x, t) / extract((1 - ac).sqrt(), t, x.shape))
    return mean if ti == 0 else mean + extract(post_var, t, x.shape).sqrt() * torch.randn_like(x)
x = torch.randn(2, 1, 8, 8)
for i in tqdm(reversed(range(0, T)), desc='sampling', total=T, disable=True): x = p_sample(ema, x, torch.full((2,), i, dtype=torch.long), i)
x = x.clamp(-1, 1); print(x.mean().item(), x.std().item(), x[0, 0, 3, :4])
alpha = np.cumprod(1 - np.linspace(1e-4, 0.02, 10)); print(alpha[-1], np.sqrt(alpha)[:3])
