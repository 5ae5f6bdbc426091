import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from einops import rearrange, reduce

# The numbers, bit by bit.
for start, end, steps in ((-0.5, 1.5, 7), (0, 1, 11), (0.0, 50.0, 51), (1e-4, 0.02, 100), (3, -2, 9), (2.5, 7, 1), (0, 1, 0)):
    x = torch.linspace(start, end, steps)
    print(steps, [v.hex() for v in x.tolist()[:60]])
print(torch.round(torch.linspace(-0.5, 1.5, 7).clamp(0, 1) * 3) / 3, torch.linspace(0, 10, 5, dtype=torch.int64))
x = torch.randn(2, 3, 4, 4)
for pattern in ("b c h w -> b c h (w q)", "b c h w -> b c h", "b c h -> b h c", "b c (h p) w -> b c h w p"):
    try:
        rearrange(x, pattern, **({"p": 3} if "p" in pattern else {}))
    except Exception as error:
        print(type(error).__name__, error)
print(np.array2string(np.array([1.23456, 2.5]), precision=2), np.array2string(np.array([1, 2, 3]), separator=", "))
a, b = torch.randn(2, 3), torch.randn(4, 5)
for f in (lambda: F.cross_entropy(a, a.long()), lambda: a.chunk(0), lambda: F.interpolate(torch.randn(1, 1, 4, 4)), lambda: torch.arange(3).softmax(0),
          lambda: torch.normal(0, -1.0, (2,)), lambda: torch.mm(a, torch.randn(3)), lambda: a.masked_fill(a, 0), lambda: nn.Linear(3, 2)(a.half()),
          lambda: torch.triu(a[0]), lambda: a.repeat(2), lambda: a.view(-1, -1)):
    try:
        f()
    except Exception as error:
        print(type(error).__name__, error)
print(hasattr(torch, "all_reduce"), torch.histc(torch.tensor([0.1, 0.9, 0.5]), 4, 0, 1))
print(nn.Unfold(2), nn.Fold((4, 4), 2), nn.PixelUnshuffle(2), torch.distributions.StudentT(torch.tensor(4.0)).entropy())
