"""Leaves that show the elements of other tensors, and what is trained through `data`."""

import torch
from torch.autograd import Variable

STEPS = {
    "data -=": lambda w: setattr(w, "data", w.data.__isub__(0.1 * w.grad.data)),
    "in place": lambda w: w.sub_(0.1 * w.grad),
    "data =": lambda w: setattr(w, "data", w.data - 0.1 * w.grad),
    "add_": lambda w: w.data.add_(w.grad, alpha=-0.1),
}
for name, step in STEPS.items():
    base = torch.ones(3)
    leaves = [base.detach().requires_grad_(), base[1:].requires_grad_(), Variable(torch.ones(2), requires_grad=True)]
    for turn in range(2):
        for w in leaves:
            loss = (w * 3).sum()
            loss.backward()
            with torch.no_grad():
                step(w)
            w.grad.data.zero_()
            print(name, turn, loss.item(), w, w.is_leaf, base)

# A network of two matrices, as tutorials write it.
torch.manual_seed(0)
x, y = Variable(torch.randn(8, 5)), Variable(torch.randn(8, 2))
w1 = Variable(torch.randn(5, 6).type(torch.FloatTensor), requires_grad=True)
w2 = Variable(torch.randn(6, 2).type(torch.FloatTensor), requires_grad=True)
for turn in range(4):
    loss = (x.mm(w1).clamp(min=0).mm(w2) - y).pow(2).sum()
    print(turn, loss.item())
    loss.backward()
    w1.data -= 1e-3 * w1.grad.data
    w2.data -= 1e-3 * w2.grad.data
    w1.grad.data.zero_()
    w2.grad.data.zero_()
a = torch.ones(2, 2)
square = a.detach().requires_grad_()
square.data = square.data.t()
print(square, square.is_leaf, torch.range(0, 2))
