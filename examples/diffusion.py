"""A diffusion model of points on two moons: Ho, Jain and Abbeel, 2020.

    aludel run examples/diffusion.py --steps 2000
"""

import argparse
import math

import torch
from torch import nn
from torch.nn import functional as F
from einops import rearrange, repeat


def moons(count):
    angle = torch.rand(count) * math.pi
    upper = torch.rand(count) < 0.5
    x = torch.where(upper, torch.cos(angle), 1 - torch.cos(angle)) - 0.5
    y = torch.where(upper, torch.sin(angle), 0.5 - torch.sin(angle)) - 0.25
    return torch.stack([x, y], dim=1) + 0.05 * torch.randn(count, 2)


class SinusoidalEmbedding(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.dim = dim

    def forward(self, t):
        half = self.dim // 2
        freqs = torch.exp(torch.arange(half, device=t.device) * -(math.log(1000) / (half - 1)))
        angles = rearrange(t, "b -> b 1") * rearrange(freqs, "d -> 1 d")
        return torch.cat((angles.sin(), angles.cos()), dim=-1)


class Denoiser(nn.Module):
    def __init__(self, width=64, dim=16):
        super().__init__()
        self.time = nn.Sequential(SinusoidalEmbedding(dim), nn.Linear(dim, width), nn.SiLU())
        self.inner = nn.Linear(2, width)
        self.blocks = nn.ModuleList([nn.Sequential(nn.LayerNorm(width), nn.Linear(width, width), nn.GELU()) for _ in range(3)])
        self.outer = nn.Linear(width, 2)

    def forward(self, x, t):
        h = self.inner(x)
        emb = self.time(t)
        for block in self.blocks:
            h = h + block(h + emb)
        return self.outer(h)


class Diffusion(nn.Module):
    def __init__(self, model, timesteps=50):
        super().__init__()
        self.model, self.timesteps = model, timesteps
        betas = torch.linspace(1e-3, 0.1, timesteps)
        alphas_cumprod = torch.cumprod(1.0 - betas, dim=0)
        self.register_buffer("betas", betas)
        self.register_buffer("alphas_cumprod", alphas_cumprod)

    def loss(self, x):
        t = torch.randint(0, self.timesteps, (x.shape[0],), device=x.device).long()
        noise = torch.randn_like(x)
        a = rearrange(self.alphas_cumprod[t], "b -> b 1")
        return F.mse_loss(self.model(a.sqrt() * x + (1 - a).sqrt() * noise, t), noise)

    @torch.no_grad()
    def sample(self, count):
        x = torch.randn(count, 2, device=self.betas.device)
        for i in reversed(range(self.timesteps)):
            t = repeat(torch.tensor([i], device=x.device), "1 -> b", b=count)
            beta, a = self.betas[i], self.alphas_cumprod[i]
            x = (x - beta / (1 - a).sqrt() * self.model(x, t)) / (1 - beta).sqrt()
            if i > 0:
                x = x + beta.sqrt() * torch.randn_like(x)
        return x


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=1000)
    parser.add_argument("--batch-size", type=int, default=128)
    parser.add_argument("--every", type=int, default=100)
    args = parser.parse_args()
    torch.manual_seed(0)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    diffusion = Diffusion(Denoiser()).to(device)
    ema = {k: v.clone() for k, v in diffusion.state_dict().items()}
    optimizer = torch.optim.AdamW(diffusion.parameters(), lr=2e-3)
    for step in range(args.steps):
        loss = diffusion.loss(moons(args.batch_size).to(device))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        with torch.no_grad():
            for k, v in diffusion.state_dict().items():
                ema[k].lerp_(v, 0.01)
        if step % args.every == 0 or step == args.steps - 1:
            print(f"step {step:5d}  loss {loss.item():.4f}")
    diffusion.load_state_dict(ema)
    points = diffusion.sample(256)
    print("mean", [f"{v:.2f}" for v in points.mean(0).tolist()], "std", [f"{v:.2f}" for v in points.std(0).tolist()])


if __name__ == "__main__":
    main()
