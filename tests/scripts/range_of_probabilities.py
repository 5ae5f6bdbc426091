"""Binary cross entropy of what are no probabilities, and what a device that is not there has in use."""
import torch
import torch.nn as nn
import torch.nn.functional as F


def t(f):
    try:
        print(f())
    except Exception as e:
        print(type(e).__name__, e)


target = torch.tensor([1.0, 0.0])
for values in ([1.5, 0.2], [-0.1, 0.2]):
    t(lambda: F.binary_cross_entropy(torch.tensor(values), target))
    t(lambda: nn.BCELoss()(torch.tensor(values), target))
t(lambda: F.binary_cross_entropy(torch.tensor([0.5, 0.5]), torch.tensor([2.0, 0.0])))
t(lambda: F.binary_cross_entropy(torch.tensor([0.0, 1.0]), target))
t(lambda: F.binary_cross_entropy_with_logits(torch.tensor([3.0, -2.0]), torch.tensor([2.0, 0.0])))
for name in ("memory_allocated", "max_memory_allocated", "memory_reserved", "max_memory_reserved", "memory_stats", "device_count"):
    print(name, getattr(torch.cuda, name)())
