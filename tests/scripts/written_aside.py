"""Results that are written without gradients, or as the data of a tensor: they keep their place in the differentiation."""
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
w = torch.ones(2, requires_grad=True)


def through_detach(y):
    z = y.detach()
    z += 5


def data_in_place(y):
    y.data.clamp_(0, 1)


def data_bound(y):
    y.data = y.data * 3


def part_of_data(y):
    y.data[0] = 9.0


def no_grad(y):
    with torch.no_grad():
        y += 1
        y[0] = -1


def no_grad_copy(y):
    with torch.no_grad():
        y.copy_(torch.tensor([3.0, 4.0]))


for write in (through_detach, data_in_place, data_bound, part_of_data, no_grad, no_grad_copy):
    w.grad = None
    y = w * 2
    write(y)
    (y * y).sum().backward()
    print(write.__name__, y.detach(), y.requires_grad, w.grad)


class ByData(nn.Module):
    def forward(self, x):
        y = x.clone()
        y.data = (x.data > 0).float()
        return y


class ByCopy(nn.Module):
    def forward(self, x):
        y = x.clone()
        with torch.no_grad():
            y.copy_((x > 0).float())
        return y


class ByDetach(nn.Module):
    def forward(self, x):
        y = x + 0
        y.detach().round_()
        return y


x, target = torch.randn(30, 12), torch.arange(30) % 3
for step in (ByData, ByCopy, ByDetach):
    torch.manual_seed(1)
    model = nn.Sequential(nn.Linear(12, 8), step(), nn.Linear(8, 3))
    opt = torch.optim.Adam(model.parameters(), 1e-2)
    for _ in range(10):
        loss = F.cross_entropy(model(x), target)
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(step.__name__, f"{loss.item():.5f} {model[0].weight.grad.norm().item():.5f}")
