"""The adaptive softmax, and what optimizers and schedules keep, in order."""

import torch
from torch import nn
from torch.optim.lr_scheduler import CyclicLR, OneCycleLR

torch.manual_seed(0)
soft = nn.AdaptiveLogSoftmaxWithLoss(16, 20, [5, 10])
x, target = torch.randn(4, 16, requires_grad=True), torch.tensor([1, 6, 12, 19])
print(soft)
out = soft(x, target)
print(out, soft.predict(x), torch.allclose(soft.log_prob(x).exp().sum(1), torch.ones(4)), soft.log_prob(x).gather(1, target[:, None]).detach().squeeze(1))
out.loss.backward()
print(x.grad.norm(), [round(p.grad.norm().item(), 4) for p in soft.parameters()], soft(x[0], target[0]).output.shape)
try:
    nn.AdaptiveLogSoftmaxWithLoss(8, 10, [5, 3])
except ValueError as error:
    print(error)
for name in ("NAdam", "ASGD", "Adamax", "RAdam", "Rprop"):
    torch.manual_seed(1)
    net = nn.Linear(3, 1)
    optimizer = getattr(torch.optim, name)(net.parameters(), lr=0.01)
    net(torch.ones(2, 3)).sum().backward()
    optimizer.step()
    print(name, list(optimizer.state[net.weight]), net.weight.data)
sgd = torch.optim.SGD([nn.Parameter(torch.zeros(1))], 0.1, momentum=0.9)
cyclic = CyclicLR(sgd, 0.01, 0.1, scale_fn=lambda x: 1 / x)
print(list(cyclic.state_dict()))
cyclic.load_state_dict(cyclic.state_dict())
sgd.step()
cyclic.step()
print(cyclic.get_last_lr(), OneCycleLR(sgd, 0.1, total_steps=8).state_dict()["use_beta1"])
