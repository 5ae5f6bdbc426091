"""einops.layers.torch."""

import torch
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


class EinMix(nn.Module):
    """A linear layer by the names of its axes: `einsum` with a weight, a bias, and axes that come apart before and together after."""

    def __init__(self, pattern, weight_shape, bias_shape=None, **axes_lengths):
        super().__init__()
        self.pattern, self.weight_shape, self.bias_shape, self.axes_lengths = pattern, weight_shape, bias_shape, axes_lengths
        left, right = pattern.split("->")
        sides = [side.replace("(", " ").replace(")", " ").split() for side in (left, right)]
        weight = weight_shape.split()
        self._known(set(sides[1]) - set(sides[0]) - set(weight), "Unrecognized identifiers on the right side of EinMix {}")
        if "(" in weight_shape:
            raise einops.EinopsError(f"Parenthesis is not allowed in weight shape: {weight_shape}")
        for axis in weight:
            if axis not in axes_lengths:
                raise einops.EinopsError(f"Dimension {axis} of weight should be specified")
        self._known(set(axes_lengths) - set(sides[0]) - set(weight), "Axes {} are not used in pattern")
        self._known(set(weight) - set(sides[0]) - set(sides[1]), "Weight axes {} are redundant")
        whole = [" ".join(side) for side in sides]
        self._before = (f"{left}-> {whole[0]}", {k: v for k, v in axes_lengths.items() if k in sides[0]}) if "(" in left else None
        self._after = f"{whole[1]} ->{right}" if "(" in right else None
        self._equation = f"{whole[0]}, {weight_shape} -> {whole[1]}"
        fan_in = 1
        for axis in weight:
            fan_in *= 1 if axis in sides[1] else axes_lengths[axis]
        shape, bound = [axes_lengths[axis] for axis in weight], (3 / fan_in) ** 0.5
        self.weight = nn.Parameter(torch.zeros(shape).uniform_(-bound, bound))
        self.bias = None
        if bias_shape is not None:
            self._known(set(bias_shape.split()) - set(sides[1]), "Bias axes {} not present in output")
            self._known(set(bias_shape.split()) - set(axes_lengths), "Sizes not provided for bias axes {}")
            shape = [axes_lengths[axis] if axis in bias_shape.split() else 1 for axis in sides[1] if axis != "..."]
            bound = (1 / fan_in) ** 0.5
            self.bias = nn.Parameter(torch.zeros(shape).uniform_(-bound, bound))

    def _known(self, extra, message):
        if extra:
            raise einops.EinopsError(message.format(extra))

    def forward(self, input):
        if self._before:
            input = einops.rearrange(input, self._before[0], **self._before[1])
        made = einops.einsum(input, self.weight, self._equation)
        made = made if self.bias is None else made + self.bias
        return einops.rearrange(made, self._after, **{k: v for k, v in self.axes_lengths.items() if k in self._after}) if self._after else made

    def __repr__(self):
        shown = [repr(self.pattern), repr(self.weight_shape)] + ([] if self.bias_shape is None else [repr(self.bias_shape)])
        return f"EinMix({', '.join(shown + [f'{k}={v}' for k, v in self.axes_lengths.items()])})"
