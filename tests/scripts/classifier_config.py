import argparse, logging, math, os, random, sys, time
from dataclasses import dataclass, field, asdict
from typing import List, Optional, Tuple
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim
from torch.utils.data import Dataset, DataLoader, random_split


@dataclass
class Config:
    lr: float = 1e-2
    epochs: int = 3
    hidden: List[int] = field(default_factory=lambda: [32, 16])
    seed: int = 42
    name: Optional[str] = None


def set_seed(seed):
    random.seed(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)
    if torch.cuda.is_available():
        torch.cuda.manual_seed_all(seed)
    torch.backends.cudnn.deterministic = True
    torch.backends.cudnn.benchmark = False


class Moons(Dataset):
    def __init__(self, n=200, noise=0.1):
        t = np.random.rand(n) * np.pi
        y = np.random.randint(0, 2, n)
        x = np.where(y[:, None] == 0, np.stack([np.cos(t), np.sin(t)], 1), np.stack([1 - np.cos(t), 0.5 - np.sin(t)], 1))
        x = x + np.random.normal(0, noise, x.shape)
        self.x = torch.from_numpy(x.astype(np.float32))
        self.y = torch.from_numpy(y).long()

    def __len__(self):
        return len(self.x)

    def __getitem__(self, i):
        return self.x[i], self.y[i]


class MLP(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        layers = []
        d = 2
        for h in cfg.hidden:
            layers += [nn.Linear(d, h), nn.BatchNorm1d(h), nn.ReLU(inplace=True), nn.Dropout(0.1)]
            d = h
        layers.append(nn.Linear(d, 2))
        self.net = nn.Sequential(*layers)
        self.apply(self._init)

    def _init(self, m):
        if isinstance(m, nn.Linear):
            nn.init.kaiming_normal_(m.weight, nonlinearity="relu")
            nn.init.zeros_(m.bias)

    def forward(self, x):
        return self.net(x)


class AverageMeter:
    def __init__(self):
        self.reset()

    def reset(self):
        self.val = self.avg = self.sum = self.count = 0

    def update(self, val, n=1):
        self.val = val
        self.sum += val * n
        self.count += n
        self.avg = self.sum / self.count


def train(model, loader, opt, device):
    model.train()
    m = AverageMeter()
    for x, y in loader:
        x, y = x.to(device), y.to(device)
        opt.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        opt.step()
        m.update(loss.item(), x.size(0))
    return m.avg


@torch.no_grad()
def evaluate(model, loader, device):
    model.eval()
    correct = total = 0
    for x, y in loader:
        pred = model(x.to(device)).argmax(dim=1)
        correct += (pred == y.to(device)).sum().item()
        total += y.numel()
    return correct / total


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--lr", type=float, default=0.01)
    p.add_argument("--epochs", type=int, default=4)
    args = p.parse_args([])
    cfg = Config(lr=args.lr, epochs=args.epochs)
    print(cfg)
    print(asdict(cfg))
    set_seed(cfg.seed)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    ds = Moons()
    tr, va = random_split(ds, [160, 40], generator=torch.Generator().manual_seed(0))
    tl = DataLoader(tr, batch_size=32, shuffle=True, num_workers=0, drop_last=True)
    vl = DataLoader(va, batch_size=64)
    model = MLP(cfg).to(device)
    print(model)
    print(f"params: {sum(p.numel() for p in model.parameters() if p.requires_grad):,}")
    opt = optim.AdamW(model.parameters(), lr=cfg.lr, weight_decay=1e-4)
    sched = optim.lr_scheduler.CosineAnnealingLR(opt, T_max=cfg.epochs)
    best = 0
    for epoch in range(1, cfg.epochs + 1):
        loss = train(model, tl, opt, device)
        acc = evaluate(model, vl, device)
        sched.step()
        best = max(best, acc)
        print(f"epoch {epoch:02d} | loss {loss:.4f} | acc {acc:6.2%} | lr {opt.param_groups[0]['lr']:.2e}")
    print(opt)
    print("best", best)


if __name__ == "__main__":
    main()
