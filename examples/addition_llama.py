"""A small Llama learns to add: RMSNorm, rotary positions, grouped queries, SwiGLU.

    aludel run examples/addition_llama.py --steps 2000
"""

import argparse
from dataclasses import dataclass

import torch
import torch.nn as nn
import torch.nn.functional as F

CHARS = "0123456789+="


@dataclass
class Config:
    vocab: int = len(CHARS)
    width: int = 64
    layers: int = 2
    heads: int = 4
    kv_heads: int = 2
    hidden: int = 128
    context: int = 16
    theta: float = 10000.0


def rotary(config):
    size = config.width // config.heads
    freqs = 1.0 / (config.theta ** (torch.arange(0, size, 2).float() / size))
    angles = torch.outer(torch.arange(config.context).float(), freqs)
    angles = torch.cat([angles, angles], dim=-1)
    return angles.cos(), angles.sin()


def rotate(x, cos, sin):
    a, b = x.chunk(2, dim=-1)
    return x * cos + torch.cat((-b, a), dim=-1) * sin


class Attention(nn.Module):
    def __init__(self, c: Config):
        super().__init__()
        self.heads, self.kv_heads, self.size = c.heads, c.kv_heads, c.width // c.heads
        self.wq = nn.Linear(c.width, c.heads * self.size, bias=False)
        self.wk = nn.Linear(c.width, c.kv_heads * self.size, bias=False)
        self.wv = nn.Linear(c.width, c.kv_heads * self.size, bias=False)
        self.wo = nn.Linear(c.width, c.width, bias=False)

    def forward(self, x, cos, sin):
        B, T, C = x.shape
        q = self.wq(x).view(B, T, self.heads, self.size).transpose(1, 2)
        k = self.wk(x).view(B, T, self.kv_heads, self.size).transpose(1, 2)
        v = self.wv(x).view(B, T, self.kv_heads, self.size).transpose(1, 2)
        q, k = rotate(q, cos[:T], sin[:T]), rotate(k, cos[:T], sin[:T])
        k, v = (t.repeat_interleave(self.heads // self.kv_heads, dim=1) for t in (k, v))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.wo(y.transpose(1, 2).reshape(B, T, C))


class FeedForward(nn.Module):
    def __init__(self, c: Config):
        super().__init__()
        self.gate = nn.Linear(c.width, c.hidden, bias=False)
        self.up = nn.Linear(c.width, c.hidden, bias=False)
        self.down = nn.Linear(c.hidden, c.width, bias=False)

    def forward(self, x):
        return self.down(F.silu(self.gate(x)) * self.up(x))


class Block(nn.Module):
    def __init__(self, c: Config):
        super().__init__()
        self.attention_norm, self.ffn_norm = nn.RMSNorm(c.width, eps=1e-5), nn.RMSNorm(c.width, eps=1e-5)
        self.attention, self.feed_forward = Attention(c), FeedForward(c)

    def forward(self, x, cos, sin):
        x = x + self.attention(self.attention_norm(x), cos, sin)
        return x + self.feed_forward(self.ffn_norm(x))


class Llama(nn.Module):
    def __init__(self, c: Config):
        super().__init__()
        self.embedding = nn.Embedding(c.vocab, c.width)
        self.layers = nn.ModuleList(Block(c) for _ in range(c.layers))
        self.norm = nn.RMSNorm(c.width, eps=1e-5)
        self.output = nn.Linear(c.width, c.vocab, bias=False)
        cos, sin = rotary(c)
        self.register_buffer("cos", cos, persistent=False)
        self.register_buffer("sin", sin, persistent=False)

    def forward(self, tokens):
        x = self.embedding(tokens)
        for layer in self.layers:
            x = layer(x, self.cos, self.sin)
        return self.output(self.norm(x))


def batch(count, digits):
    rows = []
    for a, b in torch.randint(0, 10 ** digits, (count, 2)).tolist():
        total = str(a + b).zfill(digits + 1)[::-1]
        rows.append([CHARS.index(c) for c in f"{a:0{digits}d}+{b:0{digits}d}={total}"])
    text = torch.tensor(rows)
    x, y = text[:, :-1], text[:, 1:].clone()
    y[:, :2 * digits + 1] = -100
    return x, y


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=2000)
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--every", type=int, default=100)
    args = parser.parse_args()
    torch.manual_seed(0)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    model = Llama(Config()).to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3, betas=(0.9, 0.95), weight_decay=0.1)
    for step in range(args.steps):
        x, y = batch(args.batch_size, 2)
        logits = model(x.to(device))
        loss = F.cross_entropy(logits.view(-1, logits.size(-1)), y.to(device).reshape(-1))
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        norm = nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        if step % args.every == 0 or step == args.steps - 1:
            print(f"step {step:5d}  loss {loss.item():.4f}  gradient {norm.item():.3f}")


if __name__ == "__main__":
    main()
