"""Loops over several models, and lines that they write: each turn has its own."""

import copy
import logging
import sys
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.checkpoint import checkpoint

logging.basicConfig(level=logging.INFO, format="[%(levelname)s] %(name)s: %(message)s", stream=sys.stdout)
log = logging.getLogger("train")
torch.manual_seed(0)
X, Y = torch.randn(16, 4), torch.randint(0, 3, (16,))


class Net(nn.Module):
    def __init__(self, keep):
        super().__init__()
        self.first, self.norm, self.last, self.keep = nn.Linear(4, 6), nn.BatchNorm1d(6), nn.Linear(6, 3), keep

    def forward(self, x):
        def inner(*inputs):
            return torch.relu(self.norm(self.first(inputs[0])))
        x = x * torch.ones(4, requires_grad=True)
        hidden = checkpoint(inner, x, use_reentrant=False) if self.keep else inner(x)
        return self.last(hidden)


plain, kept = Net(False), Net(True)
kept.load_state_dict(plain.state_dict())
pairs = [(m, torch.optim.Adagrad(m.parameters(), 0.05)) for m in (plain, kept)]
for epoch in range(8):
    losses = []
    for model, optimizer in pairs:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(X), Y)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    print(epoch, "%.5f %.5f" % tuple(losses))


class Trainer:
    def __init__(self, name, rate):
        self.name, self.model, self.history = name, copy.deepcopy(plain), []
        self.optimizer = torch.optim.SGD(self.model.parameters(), rate)

    def step(self):
        model = lambda x: self.model(x)
        loss = F.cross_entropy(model(X), Y)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.history.append(loss.item())
        return loss.item()


trainers = {name: Trainer(name, rate) for name, rate in (("slow", 0.01), ("fast", 0.3))}
for epoch in range(8):
    print(epoch, " ".join([f"{name}={trainer.step():.4f}" for name, trainer in trainers.items()]))
for epoch, trainer in enumerate(list(trainers.values()) * 5):
    print(trainer.name, f"{trainer.step():.4f}", len(trainer.history))

trainer = trainers["fast"]
for step in range(14):
    loss = trainer.step()
    if step % 3 == 0:
        log.info("step=%03d loss=%.4f", step, loss)
        print("%(step)d/%(of)d %(loss).3f 100%%" % {"step": step, "of": 14, "loss": loss})
    if step % 5 == 4:
        print("%s and %r" % ([loss], {"step": step}))
