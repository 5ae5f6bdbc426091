"""Low-rank adaptation: a network that fits one curve is adapted to another by few parameters: Hu et al., 2021.

    aludel run examples/lora.py
"""

import argparse
import math

import torch
import torch.nn as nn
import torch.nn.functional as F


class LoRALinear(nn.Module):
    def __init__(self, base: nn.Linear, rank: int = 2, alpha: float = 4.0):
        super().__init__()
        self.base = base
        self.scaling = alpha / rank
        self.lora_A = nn.Parameter(torch.empty(rank, base.in_features))
        self.lora_B = nn.Parameter(torch.zeros(base.out_features, rank))
        nn.init.kaiming_uniform_(self.lora_A, a=math.sqrt(5))
        for p in self.base.parameters():
            p.requires_grad = False

    def forward(self, x):
        return self.base(x) + F.linear(F.linear(x, self.lora_A), self.lora_B) * self.scaling

    @torch.no_grad()
    def merge(self):
        self.base.weight += self.scaling * self.lora_B @ self.lora_A
        return self.base


def replace_linear_with_lora(module, rank):
    for name, child in module.named_children():
        if isinstance(child, nn.Linear):
            setattr(module, name, LoRALinear(child, rank))
        else:
            replace_linear_with_lora(child, rank)


def merge_lora(module):
    for name, child in module.named_children():
        if isinstance(child, LoRALinear):
            setattr(module, name, child.merge())


def count(module):
    trained = sum(p.numel() for p in module.parameters() if p.requires_grad)
    return f"{trained} of {sum(p.numel() for p in module.parameters())} parameters train"


def fit(model, x, y, steps, every, lr):
    optimizer = torch.optim.Adam([p for p in model.parameters() if p.requires_grad], lr=lr)
    for step in range(steps):
        optimizer.zero_grad()
        loss = F.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()
        if step % every == 0 or step == steps - 1:
            print(f"  step {step:4d}  loss {loss.item():.5f}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument("--every", type=int, default=100)
    parser.add_argument("--rank", type=int, default=2)
    args = parser.parse_args()
    torch.manual_seed(0)
    x = torch.linspace(-2, 2, 128).unsqueeze(1)
    model = nn.Sequential(nn.Linear(1, 32), nn.Tanh(), nn.Linear(32, 32), nn.Tanh(), nn.Linear(32, 1))
    print("base:", count(model))
    fit(model, x, torch.sin(2 * x), args.steps, args.every, 1e-2)

    replace_linear_with_lora(model, args.rank)
    print("adapted:", count(model))
    fit(model, x, torch.sin(2 * x) + 0.5 * x, args.steps, args.every, 1e-2)
    with torch.no_grad():
        before = model(x)
        merge_lora(model)
        print("merged, the same within 1e-5:", torch.allclose(model(x), before, atol=1e-5))
    print([name for name, _ in model.named_parameters()])


if __name__ == "__main__":
    main()
