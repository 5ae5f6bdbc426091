"""Knowledge distillation: a small network learns from a large one's softened answers: Hinton, Vinyals and Dean, 2015.

    aludel run examples/distillation.py
"""

import argparse
import math

import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, Dataset


class Rings(Dataset):
    """Points on three noisy rings."""

    def __init__(self, count, noise=0.12):
        self.labels = torch.randint(0, 3, (count,))
        angle = 2 * math.pi * torch.rand(count)
        radius = 0.5 + 0.5 * self.labels + noise * torch.randn(count)
        self.points = torch.stack([radius * angle.cos(), radius * angle.sin()], dim=1)

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, i):
        return self.points[i], self.labels[i]


def mlp(*sizes):
    layers = []
    for a, b in zip(sizes, sizes[1:]):
        layers += [nn.Linear(a, b), nn.ReLU()]
    return nn.Sequential(*layers[:-1])


def distillation_loss(student, teacher, labels, temperature, alpha):
    soft = F.kl_div(F.log_softmax(student / temperature, dim=1), F.softmax(teacher / temperature, dim=1), reduction="batchmean")
    return alpha * temperature ** 2 * soft + (1 - alpha) * F.cross_entropy(student, labels)


@torch.inference_mode()
def accuracy(model, dataset):
    model.eval()
    return (model(dataset.points).argmax(1) == dataset.labels).float().mean().item()


def train(model, loader, epochs, teacher=None, temperature=3.0, alpha=0.7):
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    for epoch in range(epochs):
        model.train()
        total = 0.0
        for x, y in loader:
            scores = model(x)
            if teacher is None:
                loss = F.cross_entropy(scores, y)
            else:
                with torch.no_grad():
                    guide = teacher(x)
                loss = distillation_loss(scores, guide, y, temperature, alpha)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item() * len(x)
        print(f"  epoch {epoch}: loss {total / len(loader.dataset):.4f}")
    return model


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--count", type=int, default=1024)
    args = parser.parse_args()
    torch.manual_seed(0)
    data, held_out = Rings(args.count), Rings(512)
    loader = DataLoader(data, batch_size=64, shuffle=True)
    print("teacher")
    teacher = train(mlp(2, 64, 64, 3), loader, args.epochs)
    teacher.requires_grad_(False).eval()
    print("student alone")
    alone = train(mlp(2, 8, 3), loader, args.epochs)
    print("student of the teacher")
    taught = train(mlp(2, 8, 3), loader, args.epochs, teacher)
    for name, model in ("teacher", teacher), ("alone", alone), ("taught", taught):
        print(f"{name}: accuracy {accuracy(model, held_out):.2f}, {sum(p.numel() for p in model.parameters())} parameters")


if __name__ == "__main__":
    main()
