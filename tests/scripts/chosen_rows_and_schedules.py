"""Losses of rows that an index chooses, CTC over several lengths, products that do not fit, and schedules that are saved."""

import io
import torch
from collections import Counter
from torch import nn
from torch.nn import functional as F
from torch.optim import lr_scheduler as S

torch.manual_seed(0)
x, labels = torch.randn(24, 6), torch.arange(24) % 3
train = torch.zeros(24, dtype=torch.bool)
train[torch.randperm(24)[:9]] = True
model = nn.Linear(6, 3)
optimizer = torch.optim.SGD(model.parameters(), 0.1)
for step in range(8):
    loss = F.nll_loss(model(x).log_softmax(1)[train], labels[train])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(loss.item(), model.weight.grad.norm().item())

for step in range(6):
    times, lengths = 9 + step % 3, torch.tensor([1 + (step + j) % 3 for j in range(4)])
    scores = torch.randn(times, 4, 5, requires_grad=True)
    targets = torch.randint(1, 5, (int(lengths.sum()),))
    given = torch.tensor([times - j for j in range(4)])
    reduction = ("mean", "sum", "none")[step % 3]
    loss = F.ctc_loss(scores.log_softmax(-1), targets, given, lengths, reduction=reduction)
    loss.sum().backward()
    rows = F.ctc_loss(scores.log_softmax(-1), torch.ones(4, 3, dtype=torch.long), given, torch.tensor([3] * 4), zero_infinity=True)
    print(loss.detach(), f"{rows.item():.5f}", f"{scores.grad.norm().item():.5f}", scores.grad.shape)
print(F.ctc_loss(torch.randn(6, 3).log_softmax(-1), torch.tensor([1, 2]), torch.tensor(6), torch.tensor(2)))


def says(*shapes):
    try:
        print((torch.ones(shapes[0]) @ torch.ones(shapes[1])).shape)
    except RuntimeError as e:
        print(e)


for shapes in (((1, 18, 3, 6, 4), (18, 8, 1, 4, 1)), ((2, 3, 4), (3, 4, 5)), ((2, 3, 4), (2, 5, 5)), ((3, 4), (2, 5, 5)), ((2, 3, 4), (5, 5)),
               ((2, 3, 4), (5,)), ((4,), (2, 5, 5)), ((4,), (5, 5)), ((7, 1, 3, 4), (6, 5, 5)), ((2, 2, 3, 4), (3, 2, 4, 5))):
    says(*shapes)


class Warm:
    def __init__(self, n):
        self.n = n

    def __call__(self, epoch):
        return min(1.0, (epoch + 1) / self.n)


def groups():
    one, two = nn.Parameter(torch.ones(1)), nn.Parameter(torch.ones(1))
    return torch.optim.SGD([{"params": [one]}, {"params": [two], "lr": 0.2}], 0.1, momentum=0.9)


makes = {
    "lambda": lambda o: S.LambdaLR(o, lambda e: 0.9 ** e),
    "callable": lambda o: S.LambdaLR(o, [Warm(4), lambda e: 1.0]),
    "multiplied": lambda o: S.MultiplicativeLR(o, lambda e: 0.95),
    "milestones": lambda o: S.MultiStepLR(o, [2, 4]),
    "one cycle": lambda o: S.OneCycleLR(o, 0.3, total_steps=20),
    "sequence": lambda o: S.SequentialLR(o, [S.LambdaLR(o, lambda e: 0.1), S.ExponentialLR(o, 0.9)], [2]),
    "chain": lambda o: S.ChainedScheduler([S.LambdaLR(o, lambda e: 0.5 ** e), S.ExponentialLR(o, 0.9)]),
}
for name, make in makes.items():
    first, second = groups(), groups()
    schedule = make(first)
    for step in range(4):
        first.step()
        schedule.step()
    file = io.BytesIO()
    torch.save({"schedule": schedule.state_dict(), "optimizer": first.state_dict(), "words": Counter("abca")}, file)
    file.seek(0)
    saved = torch.load(file, weights_only=False)
    again = make(second)
    again.load_state_dict(saved["schedule"])
    second.load_state_dict(saved["optimizer"])
    for step in range(3):
        for o, s in ((first, schedule), (second, again)):
            o.step()
            s.step()
    rates = [[f"{g['lr']:.6f}" for g in o.param_groups] for o in (first, second)]
    print(name, saved["schedule"].get("lr_lambdas"), *rates, saved["words"].most_common(1))
