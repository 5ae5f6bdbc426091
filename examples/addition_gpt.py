"""A small GPT learns to add two numbers, one character after another: 12+34=46 is written with its sum reversed, as one adds by hand.

    aludel run examples/addition_gpt.py --steps 2000
"""

import argparse
import math

import torch
import torch.nn as nn
from torch.nn import functional as F

CHARS = "0123456789+="
ENCODE = {c: i for i, c in enumerate(CHARS)}


def batch(count, digits):
    """Problems as numbers of characters; targets are -1 where the problem is given and not to be guessed."""
    rows = []
    for a, b in torch.randint(0, 10 ** digits, (count, 2)).tolist():
        total = str(a + b).zfill(digits + 1)[::-1]
        rows.append([ENCODE[c] for c in f"{a:0{digits}d}+{b:0{digits}d}={total}"])
    text = torch.tensor(rows)
    x, y = text[:, :-1], text[:, 1:].clone()
    y[:, :2 * digits + 1] = -1
    return x, y


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.ln_1, self.ln_2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv = nn.Linear(width, 3 * width)
        self.proj = nn.Linear(width, width)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def attend(self, x):
        B, T, C = x.size()
        q, k, v = self.qkv(x).split(C, dim=2)
        q, k, v = [t.view(B, T, self.heads, C // self.heads).transpose(1, 2) for t in (q, k, v)]
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.proj(y.transpose(1, 2).contiguous().view(B, T, C))

    def forward(self, x):
        x = x + self.attend(self.ln_1(x))
        return x + self.mlp(self.ln_2(x))


class GPT(nn.Module):
    def __init__(self, context, width=64, layers=2, heads=4):
        super().__init__()
        self.tokens = nn.Embedding(len(CHARS), width)
        self.positions = nn.Embedding(context, width)
        self.blocks = nn.ModuleList([Block(width, heads) for _ in range(layers)])
        self.ln_f = nn.LayerNorm(width)
        self.head = nn.Linear(width, len(CHARS), bias=False)
        self.head.weight = self.tokens.weight
        self.apply(self._init)
        for name, p in self.named_parameters():
            if name.endswith("proj.weight"):
                nn.init.normal_(p, mean=0.0, std=0.02 / math.sqrt(2 * layers))

    def _init(self, module):
        if isinstance(module, (nn.Linear, nn.Embedding)):
            nn.init.normal_(module.weight, mean=0.0, std=0.02)
        if isinstance(module, nn.Linear) and module.bias is not None:
            nn.init.zeros_(module.bias)

    def forward(self, idx, targets=None):
        places = torch.arange(idx.size(1), device=idx.device)
        x = self.tokens(idx) + self.positions(places)
        for block in self.blocks:
            x = block(x)
        logits = self.head(self.ln_f(x))
        if targets is None:
            return logits, None
        return logits, F.cross_entropy(logits.view(-1, logits.size(-1)), targets.reshape(-1), ignore_index=-1)

    @torch.no_grad()
    def generate(self, idx, count):
        for _ in range(count):
            logits, _ = self(idx)
            idx = torch.cat([idx, logits[:, -1].argmax(dim=-1, keepdim=True)], dim=1)
        return idx


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=2000)
    parser.add_argument("--every", type=int, default=200)
    parser.add_argument("--digits", type=int, default=2)
    parser.add_argument("--batch-size", type=int, default=64)
    args = parser.parse_args()

    torch.manual_seed(1337)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    model = GPT(context=3 * args.digits + 2).to(device)
    print(f"{sum(p.numel() for p in model.parameters())} parameters")
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3, betas=(0.9, 0.95), weight_decay=0.1)
    for step in range(1, args.steps + 1):
        x, y = [t.to(device) for t in batch(args.batch_size, args.digits)]
        _, loss = model(x, y)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        if step % args.every == 0:
            print(f"step {step}: loss {loss.item():.4f}")

    model.eval()
    x, _ = batch(100, args.digits)
    given = 2 * args.digits + 2
    right = 0
    for row in model.generate(x[:, :given].to(device), args.digits + 1).tolist():
        text = "".join(CHARS[i] for i in row)
        problem, answer = text[:given - 1], text[given:][::-1]
        a, b = problem.split("+")
        right += answer == str(int(a) + int(b)).zfill(args.digits + 1)
    print(f"{right} of 100 sums are right; the last: {problem}={answer}")


if __name__ == "__main__":
    main()
