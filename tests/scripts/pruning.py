import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.utils import prune

torch.manual_seed(1)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 4, 3)
        self.fc1 = nn.Linear(4 * 4 * 4, 16)
        self.fc2 = nn.Linear(16, 3)

    def forward(self, x):
        x = F.relu(self.conv(x))
        x = x.view(-1, 4 * 4 * 4)
        return self.fc2(F.relu(self.fc1(x)))


model = Net()
module = model.conv
print([n for n, _ in module.named_parameters()], list(module.named_buffers()))
prune.random_unstructured(module, name="weight", amount=0.3)
print([n for n, _ in module.named_parameters()], [n for n, _ in module.named_buffers()])
print(int((module.weight == 0).sum()), type(module.weight).__name__)
prune.l1_unstructured(module, name="bias", amount=2)
print(module.bias, module.bias_mask)
print([type(h).__name__ for h in (list(module._forward_pre_hooks.values()))] and len(module._forward_pre_hooks))
prune.ln_structured(module, name="weight", amount=0.5, n=2, dim=0)
print(module.weight.abs().sum((1, 2, 3)) > 0)
print(sorted(model.state_dict().keys()))
prune.remove(module, "weight")
print([n for n, _ in module.named_parameters()], prune.is_pruned(module))
for name, m in model.named_modules():
    if isinstance(m, nn.Linear):
        prune.l1_unstructured(m, name="weight", amount=0.4)
print(dict(model.named_buffers()).keys())
opt = torch.optim.SGD(model.parameters(), lr=0.1)
x, y = torch.randn(8, 1, 6, 6), torch.randint(0, 3, (8,))
for step in range(3):
    opt.zero_grad()
    loss = F.cross_entropy(model(x), y)
    loss.backward()
    opt.step()
    print(f"{step} {loss.item():.4f} {int((model.fc1.weight == 0).sum())}")
model = Net()
prune.global_unstructured([(model.fc1, "weight"), (model.fc2, "weight"), (model.conv, "weight")],
                          pruning_method=prune.L1Unstructured, amount=0.25)
zeros = sum(int((m.weight == 0).sum()) for m in (model.fc1, model.fc2, model.conv))
total = sum(m.weight.nelement() for m in (model.fc1, model.fc2, model.conv))
print(f"Global sparsity: {100.0 * zeros / total:.2f}%")


class Every(prune.BasePruningMethod):
    """Prunes every other entry."""

    PRUNING_TYPE = "unstructured"

    def compute_mask(self, t, default_mask):
        mask = default_mask.clone()
        mask.view(-1)[::2] = 0
        return mask


def every_unstructured(module, name):
    Every.apply(module, name)
    return module


fc3 = nn.Linear(3, 2)
every_unstructured(fc3, name="bias")
print(fc3.bias_mask, fc3(torch.ones(1, 3)).shape)
prune.random_structured(fc3, "weight", amount=1, dim=1)
print(fc3.weight_mask)
prune.custom_from_mask(nn.Linear(2, 2), "weight", torch.tensor([[1, 0], [0, 1]]))
try:
    prune.l1_unstructured(fc3, "weight", amount=1.5)
except ValueError as e:
    print(e)
try:
    prune.remove(nn.Linear(1, 1), "weight")
except ValueError as e:
    print(e)
