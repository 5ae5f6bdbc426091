"""einops.layers.torch."""

from torch import nn
import einops


class _Layer(nn.Module):
    def __init__(self, pattern, **axes_lengths):
        super().__init__()
        self.pattern, self.axes_lengths = pattern, axes_lengths

    def __repr__(self):
        parts = [f"{self.pattern!r}"] + [f"{k}={v}" for k, v in self.axes_lengths.items()]
        return f"{type(self).__name__}({', '.join(parts)})"


class Rearrange(_Layer):
    def forward(self, input):
        return einops.rearrange(input, self.pattern, **self.axes_lengths)


class Reduce(_Layer):
    def __init__(self, pattern, reduction, **axes_lengths):
        super().__init__(pattern, **axes_lengths)
        self.reduction = reduction

    def forward(self, input):
        return einops.reduce(input, self.pattern, self.reduction, **self.axes_lengths)

    def __repr__(self):
        parts = [f"{self.pattern!r}", f"{self.reduction!r}"] + [f"{k}={v}" for k, v in self.axes_lengths.items()]
        return f"Reduce({', '.join(parts)})"
