import torch
from torch import nn, optim

makers = {
    "sgd": lambda p: optim.SGD(p, lr=0.1), "momentum": lambda p: optim.SGD(p, lr=0.05, momentum=0.9, nesterov=True, weight_decay=0.01),
    "dampened": lambda p: optim.SGD(p, lr=0.05, momentum=0.9, dampening=0.5), "adam": lambda p: optim.Adam(p, lr=0.05, betas=(0.8, 0.99)),
    "amsgrad": lambda p: optim.Adam(p, lr=0.05, amsgrad=True, weight_decay=0.1), "adamw": lambda p: optim.AdamW(p, lr=0.05, weight_decay=0.1),
    "rmsprop": lambda p: optim.RMSprop(p, lr=0.01, momentum=0.5, centered=True), "adagrad": lambda p: optim.Adagrad(p, lr=0.1),
}
for name, make in makers.items():
    torch.manual_seed(0)
    model = nn.Linear(3, 1)
    opt = make(model.parameters())
    x, y = torch.randn(8, 3), torch.randn(8, 1)
    for _ in range(5):
        opt.zero_grad()
        loss = ((model(x) - y) ** 2).mean()
        loss.backward()
        opt.step()
    print(name, f"{loss.item():.5f}", model.weight.data, sorted(opt.state_dict()["state"].get(0, {})))
model = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 1))
opt = optim.SGD([{"params": model[0].parameters()}, {"params": model[1].parameters(), "lr": 0.5}], lr=0.1, momentum=0.9)
print([g["lr"] for g in opt.param_groups], len(opt.param_groups[0]["params"]))
for make in (
    lambda o: optim.lr_scheduler.StepLR(o, 2, 0.5), lambda o: optim.lr_scheduler.MultiStepLR(o, [2, 4], 0.1),
    lambda o: optim.lr_scheduler.ExponentialLR(o, 0.9), lambda o: optim.lr_scheduler.CosineAnnealingLR(o, 5),
    lambda o: optim.lr_scheduler.LambdaLR(o, lambda e: 1 / (e + 1)), lambda o: optim.lr_scheduler.LinearLR(o, 0.5, 1.0, 4),
    lambda o: optim.lr_scheduler.OneCycleLR(o, 0.3, total_steps=10), lambda o: optim.lr_scheduler.CosineAnnealingWarmRestarts(o, 3),
    lambda o: optim.lr_scheduler.PolynomialLR(o, 4, 2.0), lambda o: optim.lr_scheduler.ConstantLR(o, 0.5, 3),
    lambda o: optim.lr_scheduler.SequentialLR(o, [optim.lr_scheduler.LinearLR(o, 0.1, 1.0, 3), optim.lr_scheduler.ExponentialLR(o, 0.5)], [3]),
):
    opt = optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    sched = make(opt)
    rates = []
    for _ in range(7):
        opt.step()
        rates.append(round(sched.get_last_lr()[0], 6))
        sched.step()
    print(type(sched).__name__, rates)
sched = optim.lr_scheduler.ReduceLROnPlateau(opt, patience=1)
for v in (1.0, 1.0, 1.0, 1.0):
    sched.step(v)
print(opt.param_groups[0]["lr"])
saved = model.state_dict()
other = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 1))
print(other.load_state_dict(saved), torch.equal(other[0].weight, model[0].weight))
try:
    other.load_state_dict({"0.weight": torch.zeros(3, 3)})
except RuntimeError as e:
    print(str(e).split("\n")[1].strip())
