"""Large batches on small memory: gradients of several small batches are added up before a step, whose norm is clipped, under a schedule
that warms up and then falls as a cosine.

    aludel run examples/accumulation.py
"""

import argparse
import math

import torch
import torch.nn as nn
from torch.optim.lr_scheduler import LambdaLR
from torch.utils.data import DataLoader, Dataset


class Waves(Dataset):
    """A sum of two sines, sampled with noise."""

    def __init__(self, n):
        self.x = torch.rand(n, 1) * 4 - 2
        self.y = torch.sin(3 * self.x) + 0.5 * torch.cos(7 * self.x) + 0.05 * torch.randn(n, 1)

    def __len__(self):
        return len(self.x)

    def __getitem__(self, i):
        return self.x[i], self.y[i]


def warmup_cosine(warmup, total):
    def factor(step):
        if step < warmup:
            return (step + 1) / warmup
        return 0.5 * (1 + math.cos(math.pi * (step - warmup) / max(1, total - warmup)))
    return factor


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=20)
    parser.add_argument("--accumulate", type=int, default=4)
    parser.add_argument("--micro-batch", type=int, default=16)
    parser.add_argument("--samples", type=int, default=1024)
    parser.add_argument("--clip", type=float, default=1.0)
    args = parser.parse_args()

    torch.manual_seed(0)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    loader = DataLoader(Waves(args.samples), batch_size=args.micro_batch, shuffle=True, drop_last=True)
    model = nn.Sequential(nn.Linear(1, 64), nn.SiLU(), nn.Linear(64, 64), nn.SiLU(), nn.Linear(64, 1)).to(device)
    decay = [p for p in model.parameters() if p.dim() > 1]
    no_decay = [p for p in model.parameters() if p.dim() <= 1]
    optimizer = torch.optim.AdamW([
        {"params": decay, "weight_decay": 0.01},
        {"params": no_decay, "weight_decay": 0.0},
    ], lr=5e-3)
    steps = args.epochs * (len(loader) // args.accumulate)
    scheduler = LambdaLR(optimizer, warmup_cosine(max(1, steps // 10), steps))
    criterion = nn.MSELoss()

    for epoch in range(1, args.epochs + 1):
        total, largest = 0.0, 0.0
        for i, (x, y) in enumerate(loader):
            x, y = x.to(device), y.to(device)
            loss = criterion(model(x), y)
            (loss / args.accumulate).backward()
            total += loss.item()
            if (i + 1) % args.accumulate == 0:
                norm = nn.utils.clip_grad_norm_(model.parameters(), args.clip)
                largest = max(largest, norm.item())
                optimizer.step()
                scheduler.step()
                optimizer.zero_grad()
        rate = scheduler.get_last_lr()[0]
        print(f"epoch {epoch:2d}  loss {total / len(loader):.4f}  largest norm {largest:.3f}  next rate {rate:.6f}")


if __name__ == "__main__":
    main()
