"""Lists as indices, products of two types, draws that follow another tensor's order, and schedules that are asked for too much."""

import torch
import warnings
from torch.optim.lr_scheduler import *

warnings.simplefilter("ignore")
x = torch.arange(24.0).view(4, 6)
a, b = torch.tensor([0, 1, 2]), torch.tensor([3, 4, 5])
for i in ([a, b], [[0, 1], [2, 3]], [[0, 1]], [a], [slice(0, 2), 1], [None, 0], [..., 1], [0, 1], [True, False, True, False],
          [[True, False, True, False]], [(0, 1), (1, 2)], [a, 1], [0, [1, 2]]):
    y = x.clone()
    y[i] = -1
    print(tuple(x[i].shape), x[i].sum().item(), y.sum().item())

for equation, shapes in (("i, j -> i j", (3, 4)), ("i,ij->i", (3, (3, 4))), ("i,i->", (3, 3)), ("... i, ... -> ... i", ((2, 3), 2)),
                         ("i,j,k->ijk", (3, 2, 2))):
    try:
        made = torch.einsum(equation, *[torch.ones(s, dtype=torch.long if k == 0 else torch.float) for k, s in enumerate(shapes)])
        print(equation, made.dtype, tuple(made.shape), made.sum().item())
    except RuntimeError as e:
        print(equation, e)

wide = torch.zeros(2, 64)
for like in (wide[:, :32], wide[:, ::2], wide.t(), wide[:, :32].t(), torch.zeros(3, 1).expand(3, 8), torch.zeros(2, 32).view(2, 2, 16)[:, 1]):
    drawn = []
    for draw in (torch.randn_like, torch.rand_like):
        torch.manual_seed(0)
        drawn.append("%.4f" % (draw(like).flatten() * torch.arange(like.numel())).sum().item())
    print(tuple(like.shape), *drawn)
torch.manual_seed(0)
print(torch.randint_like(torch.zeros(2, 3), high=4, memory_format=torch.preserve_format), torch.cpu.is_available(), torch.cpu.device_count())

d = torch.zeros(4)
for i, s in ((torch.tensor(1), torch.tensor(3.0)), (torch.tensor([0]), torch.tensor(2.0)), (torch.tensor(0), torch.tensor([2.0])),
             (torch.tensor([[0, 1], [2, 3]]), torch.ones(2, 2))):
    for name in ("scatter_add_", "scatter_", "index_add_"):
        try:
            print(name, getattr(d.clone(), name)(0, i, s))
        except (RuntimeError, IndexError) as e:
            print(name, type(e).__name__, e)

u = torch.tensor([1, 65535], dtype=torch.uint16)
print(u, u.to(torch.int32) + 1, u.float().mean(), torch.tensor([-1, 70000]).to(torch.uint16), torch.iinfo(torch.uint16).max, u.view(torch.int16))

o = torch.optim.SGD([torch.nn.Parameter(torch.ones(1))], lr=0.1)
p = torch.optim.SGD([torch.nn.Parameter(torch.ones(1))], lr=0.2)
for make in (lambda: ConstantLR(o, 10), lambda: LinearLR(o, 0), lambda: LinearLR(o, 0.5, 2.0), lambda: CosineAnnealingWarmRestarts(o, 5, eta_min="a"),
             lambda: CyclicLR(o, [0.1, 0.2], 0.2), lambda: MultiplicativeLR(o, 3), lambda: ReduceLROnPlateau(o, min_lr=[0, 1]),
             lambda: SequentialLR(o, [ConstantLR(o), ConstantLR(o)], [1, 2]), lambda: SequentialLR(o, [], []), lambda: ChainedScheduler([])):
    try:
        print(type(make()).__name__)
    except (TypeError, ValueError) as e:
        print(type(e).__name__, e)
for make in (lambda: SequentialLR(o, [ConstantLR(o), ConstantLR(p)], [1]), lambda: ChainedScheduler([ConstantLR(o), ConstantLR(p)])):
    try:
        make()
    except ValueError as e:
        print(str(e).split("(")[0], str(e).rsplit(",", 1)[1])

print(torch.uint32, torch.uint64.itemsize, torch.uint32 == torch.uint64, isinstance(torch.uint64, torch.dtype), torch.iinfo(torch.uint32).max)
