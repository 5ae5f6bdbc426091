"""What operators refuse, in PyTorch's words."""

import torch
import torch.nn as nn
import torch.nn.functional as F


def refused(function):
    try:
        print(function())
    except Exception as error:
        print(type(error).__name__, str(error).splitlines()[0])


refused(lambda: torch.zeros(-1))
refused(lambda: torch.ones(2, dtype="float"))
refused(lambda: F.max_pool2d(torch.ones(3), 2))
refused(lambda: torch.bmm(torch.ones(2, 3), torch.ones(3, 2)))
refused(lambda: torch.ones(3).copy_(torch.ones(4)))
refused(lambda: torch.ones(3).fill_(torch.ones(2, 2)))
refused(lambda: torch.zeros(2)["a"])
refused(lambda: torch.tensor(None))
refused(lambda: torch.optim.lr_scheduler.StepLR(nn.Linear(2, 2), 1))
refused(lambda: nn.GroupNorm(2, 4)(torch.ones(2, 3, 3)))
refused(lambda: torch.ones(2, 3).permute(0, 0))
refused(lambda: torch.gather(torch.ones(2, 3), 1, torch.zeros(3, 3).long()))
refused(lambda: torch.index_select(torch.ones(2, 3), 1, torch.zeros(2, 2).long()))
refused(lambda: torch.einsum("ij,jk", torch.ones(2, 3)))
refused(lambda: torch.ones(0).max())
refused(lambda: torch.ones(0).argmax())
refused(lambda: torch.ones(3).kthvalue(5))
refused(lambda: torch.zeros(2, 3).narrow(1, 2, 5))
refused(lambda: F.pad(torch.ones(2), (1, 1, 1)))
refused(lambda: F.interpolate(torch.ones(2, 2), scale_factor=2))
refused(lambda: F.pixel_shuffle(torch.ones(1, 3, 2, 2), 2))
refused(lambda: torch.chunk(torch.tensor(1.0), 2))
