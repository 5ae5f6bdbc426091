"""Activations and dropout that take their operand's place, as residual networks are written."""

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)


class ResBlock(nn.Module):
    """The branch begins in place, so that what is added is the activation of x, not x (VQ-VAE's decoder)."""

    def __init__(self, c):
        super().__init__()
        self.block = nn.Sequential(nn.ReLU(True), nn.Conv2d(c, c, 3, padding=1, bias=False), nn.BatchNorm2d(c), nn.ReLU(inplace=True),
                                   nn.Conv2d(c, c, 1, bias=False))

    def forward(self, x):
        return x + self.block(x)


x = torch.randn(2, 4, 5, 5)
before = x.clone()
y = ResBlock(4)(x)
print(y.sum(), (x == before.relu()).all())

leaf = torch.randn(2, 4, 5, 5, requires_grad=True)
hidden = leaf * 1
out = ResBlock(4)(hidden)
out.square().mean().backward()
print(hidden.min(), leaf.grad.abs().sum(), (leaf.grad != 0).float().mean())

for module in (nn.ReLU6(True), nn.LeakyReLU(0.1, True), nn.ELU(inplace=True), nn.CELU(0.5, inplace=True), nn.SELU(True), nn.SiLU(True),
               nn.Mish(True), nn.Hardswish(True), nn.Hardsigmoid(True), nn.Hardtanh(inplace=True), nn.Threshold(0.1, -1.0, True)):
    z = torch.linspace(-3, 3, 5)
    made = module(z)
    print(module, made is z, z)

z = torch.linspace(-1, 1, 5)
print(F.relu(z, inplace=True) is z, z)
z = torch.ones(8)
print(F.dropout(z, 0.5, inplace=True) is z, z)
z = torch.ones(2, 3, 2, 2)
nn.Dropout2d(0.5, inplace=True)(z)
print(z[:, :, 0, 0])
view = torch.linspace(-2, 2, 6).view(2, 3)
F.leaky_relu_(view[1], 0.1)
F.elu(view[0], inplace=True)
print(view)
try:
    nn.ReLU(inplace=True)(torch.ones(2, requires_grad=True))
except RuntimeError as error:
    print(error)
sigmoid = torch.ones(2, requires_grad=True).sigmoid()
nn.ReLU(True)(sigmoid)
print(sigmoid.grad_fn.name())
