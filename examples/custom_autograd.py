"""Functions with derivatives of their own: binary weights by a straight-through estimator, and a swish that keeps only its input.

    aludel run examples/custom_autograd.py
"""

import argparse

import torch
from torch import nn
from torch.autograd import Function


class Binarize(Function):
    """The sign forward; backward as if it were the identity where the input is small: Bengio et al., 2013."""

    @staticmethod
    def forward(ctx, input):
        ctx.save_for_backward(input)
        return torch.where(input >= 0, 1.0, -1.0)

    @staticmethod
    def backward(ctx, grad_output):
        (input,) = ctx.saved_tensors
        return grad_output * (input.abs() <= 1)


class Swish(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * torch.sigmoid(x)

    @staticmethod
    def backward(ctx, grad_output):
        x = ctx.saved_tensors[0]
        s = torch.sigmoid(x)
        return grad_output * s * (1 + x * (1 - s))


class BinaryLinear(nn.Module):
    def __init__(self, in_features, out_features):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(out_features, in_features))
        self.scale = nn.Parameter(torch.full((out_features,), in_features ** -0.5))
        self.bias = nn.Parameter(torch.zeros(out_features))
        nn.init.uniform_(self.weight, -0.5, 0.5)

    def forward(self, x):
        return nn.functional.linear(x, Binarize.apply(self.weight)) * self.scale + self.bias


class Net(nn.Module):
    def __init__(self, hidden):
        super().__init__()
        self.first, self.second = BinaryLinear(2, hidden), BinaryLinear(hidden, 2)

    def forward(self, x):
        return self.second(Swish.apply(self.first(x)))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--every", type=int, default=25)
    parser.add_argument("--hidden", type=int, default=64)
    args = parser.parse_args()
    torch.manual_seed(0)
    x = torch.randn(512, 2)
    y = (x[:, 0] * x[:, 1] > 0).long()

    t = torch.linspace(-3, 3, 7, requires_grad=True)
    (ours,) = torch.autograd.grad(Swish.apply(t).sum(), t)
    (theirs,) = torch.autograd.grad(nn.functional.silu(t).sum(), t)
    print("swish is silu:", torch.allclose(ours, theirs, atol=1e-6))

    model = Net(args.hidden)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    for step in range(args.steps):
        scores = model(x)
        loss = nn.functional.cross_entropy(scores, y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % args.every == 0 or step == args.steps - 1:
            right = (scores.argmax(1) == y).float().mean().item()
            print(f"step {step:3d}  loss {loss.item():.4f}  accuracy {right:.3f}")
    print("weights used:", sorted(set(Binarize.apply(model.first.weight).flatten().tolist())))


if __name__ == "__main__":
    main()
