"""A perceptron learns which arm of a double spiral a point lies on.

    aludel run examples/mlp_points.py
    python examples/mlp_points.py
"""

import argparse
import math

import torch
import torch.nn as nn
import torch.nn.functional as F


def spirals(n, noise=0.1):
    """n points on each of two arms, and the arm of each."""
    turn = torch.rand(n).sqrt() * 3 * math.pi
    arm = torch.stack([turn * turn.cos(), turn * turn.sin()], dim=1) / (3 * math.pi)
    points = torch.cat([arm, -arm]) + noise * 0.2 * torch.randn(2 * n, 2)
    labels = torch.cat([torch.zeros(n), torch.ones(n)]).long()
    return points, labels


class Net(nn.Module):
    def __init__(self, hidden):
        super().__init__()
        self.fc1 = nn.Linear(2, hidden)
        self.fc2 = nn.Linear(hidden, hidden)
        self.out = nn.Linear(hidden, 2)

    def forward(self, x):
        x = torch.tanh(self.fc1(x))
        x = torch.tanh(self.fc2(x))
        return self.out(x)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=1000)
    parser.add_argument("--hidden", type=int, default=64)
    parser.add_argument("--lr", type=float, default=1e-2)
    parser.add_argument("--every", type=int, default=100)
    args = parser.parse_args()

    torch.manual_seed(0)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    points, labels = spirals(200)
    points, labels = points.to(device), labels.to(device)

    model = Net(args.hidden).to(device)
    print(model)
    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)
    for step in range(1, args.steps + 1):
        logits = model(points)
        loss = F.cross_entropy(logits, labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % args.every == 0:
            accuracy = (logits.argmax(dim=1) == labels).float().mean().item()
            print(f"step {step:5d}  loss {loss.item():.4f}  accuracy {accuracy:.3f}")


if __name__ == "__main__":
    main()
