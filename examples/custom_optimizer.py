"""Optimizers of one's own: Lion (Chen et al., 2023) and a look-ahead around it (Zhang et al., 2019).

    aludel run examples/custom_optimizer.py
"""

import argparse

import torch
from torch import nn
from torch.optim import Optimizer


class Lion(Optimizer):
    def __init__(self, params, lr=1e-3, betas=(0.9, 0.99), weight_decay=0.0):
        if lr <= 0.0:
            raise ValueError(f"Invalid learning rate: {lr}")
        super().__init__(params, dict(lr=lr, betas=betas, weight_decay=weight_decay))

    @torch.no_grad()
    def step(self, closure=None):
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        for group in self.param_groups:
            beta1, beta2 = group["betas"]
            for p in group["params"]:
                if p.grad is None:
                    continue
                state = self.state[p]
                if len(state) == 0:
                    state["exp_avg"] = torch.zeros_like(p)
                exp_avg = state["exp_avg"]
                p.data.mul_(1 - group["lr"] * group["weight_decay"])
                update = exp_avg * beta1 + p.grad * (1 - beta1)
                p.add_(update.sign_(), alpha=-group["lr"])
                exp_avg.mul_(beta2).add_(p.grad, alpha=1 - beta2)
        return loss


class Lookahead:
    """Every k steps slow weights move towards the fast ones, which start again from there."""

    def __init__(self, optimizer, k=5, alpha=0.5):
        self.optimizer, self.k, self.alpha, self.count = optimizer, k, alpha, 0
        self.slow = [[p.detach().clone() for p in group["params"]] for group in optimizer.param_groups]

    def zero_grad(self):
        self.optimizer.zero_grad()

    @torch.no_grad()
    def step(self):
        self.optimizer.step()
        self.count += 1
        if self.count % self.k == 0:
            for group, slow in zip(self.optimizer.param_groups, self.slow):
                for p, q in zip(group["params"], slow):
                    q.add_(p.data - q, alpha=self.alpha)
                    p.data.copy_(q)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--every", type=int, default=20)
    args = parser.parse_args()
    torch.manual_seed(0)
    x = torch.randn(256, 4)
    y = torch.sin(x.sum(1, keepdim=True)) + 0.1 * x[:, :1] ** 2
    for name in "lion", "lookahead":
        torch.manual_seed(1)
        model = nn.Sequential(nn.Linear(4, 32), nn.GELU(), nn.Linear(32, 1))
        decay = [p for p in model.parameters() if p.dim() > 1]
        plain = [p for p in model.parameters() if p.dim() <= 1]
        optimizer = Lion([{"params": decay, "weight_decay": 0.01}, {"params": plain}], lr=2e-3)
        if name == "lookahead":
            optimizer = Lookahead(optimizer)
        for step in range(args.steps):
            loss = nn.functional.mse_loss(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            if step % args.every == 0 or step == args.steps - 1:
                print(f"{name} step {step:3d} loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
