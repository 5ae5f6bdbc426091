"""Functions of ATen that scripts seldom call by these names."""

import torch
from torch._composites import _fake_quantized
from torch._functions import tied
from torch.nn import functional as F
from torch.nn.modules.loss import _WeightedLoss
import math


def nonzero_static(input, *, size, fill_value=-1):
    """The places of the first `size` elements that are not zero, filled up to so many."""
    if size < 0:
        raise RuntimeError(f"nonzero_static: 'size' must be an non-negative integer, but got {size}")
    found = torch.nonzero(input)[:size] if input.dim() else input.new_zeros(size, 0).long()
    fill = torch.full((size - found.shape[0], input.dim()), fill_value, dtype=torch.int64)
    return torch.cat([found, fill])


def _scaled(x, weight, bias):
    x = x if weight is None else x * weight
    return x if bias is None else x + bias


def _normed(x, dims, eps):
    """What is normed over dimensions, the mean and the reciprocal of the deviation, in f32."""
    wide = x.float() if x.dtype in (torch.float16, torch.bfloat16) else x
    mean = wide.mean(dims, keepdim=True)
    scale = torch.rsqrt(wide.var(dims, correction=0, keepdim=True) + eps)
    return (wide - mean) * scale, mean, scale


def native_layer_norm(input, normalized_shape, weight, bias, eps):
    n = len(normalized_shape)
    if not n:
        raise RuntimeError("Expected normalized_shape to be at least 1-dimensional, i.e., containing at least one element, but got "
                           "normalized_shape = []")
    if tuple(input.shape[input.dim() - n:]) != tuple(normalized_shape):
        raise RuntimeError(f"Given normalized_shape={list(normalized_shape)}, expected input with shape "
                           f"[*, {', '.join(map(str, normalized_shape))}], but got input of size{list(input.shape)}")
    made, mean, scale = _normed(input, list(range(-n, 0)), eps)
    kind = input.dtype if weight is None or weight.dtype == input.dtype else weight.dtype
    return _scaled(made, weight, bias).to(input.dtype), mean.detach().to(kind), scale.detach().to(kind)


def native_group_norm(input, weight, bias, N, C, HxW, group, eps):
    made, mean, scale = _normed(input.reshape(N, group, C // group * HxW), [-1], eps)
    shape = [1, C] + [1] * (input.dim() - 2)
    made = _scaled(made.reshape(input.shape), *[None if w is None else w.reshape(shape) for w in (weight, bias)])
    kind = input.dtype if weight is None or weight.dtype == input.dtype else weight.dtype
    known = [w for w in (weight, bias) if w is not None and not input.requires_grad]
    return made.to(input.dtype), *[tied(t.reshape(N, group).to(kind), *known) for t in (mean, scale)]


def native_batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps):
    made = F.batch_norm(input, running_mean, running_var, weight, bias, training, momentum, eps)
    kind = input.dtype if weight is None or weight.dtype == input.dtype else weight.dtype
    if not training:
        return made, torch.zeros(0, dtype=kind), torch.zeros(0, dtype=kind)
    _, mean, scale = _normed(input.detach(), [d for d in range(input.dim()) if d != 1], eps)
    return made, mean.reshape(-1).to(kind), scale.reshape(-1).to(kind)


def linear_cross_entropy(input, linear_weight, target, *, linear_bias=None, weight=None, reduction="mean", ignore_index=None,
                         label_smoothing=0.0, options=None):
    if not 1 <= input.dim() <= 2:
        raise RuntimeError(f"expected input with dimensionality 1 or 2, got {input.dim()}")
    if linear_weight.dim() < 2:
        raise RuntimeError(f"expected linear_weight with dimensionality at least 2, got {linear_weight.dim()}")
    classes, *outs, features = linear_weight.shape
    if input.shape[-1] != features:
        raise RuntimeError("expected equal input and linear_weight last dimensions (in_features), "
                           f"got {input.shape[-1]} and {features}, respectively")
    logits = F.linear(input, linear_weight.reshape(-1, features), None if linear_bias is None else linear_bias.reshape(-1))
    logits = logits.reshape(*input.shape[:-1], classes, *outs)
    return F.cross_entropy(logits, target, weight, ignore_index=-100 if ignore_index is None else ignore_index, reduction=reduction,
                           label_smoothing=label_smoothing)


class LinearCrossEntropyLoss(_WeightedLoss):
    def __init__(self, in_features, num_classes, *, out_features=(), bias=False, device=None, dtype=None, reduction="mean", weight=None,
                 ignore_index=None, label_smoothing=0.0, options=None):
        if weight is not None and tuple(weight.shape) != (num_classes,):
            raise RuntimeError(f"expected weight shape to be {(num_classes,)}, got {tuple(weight.shape)}")
        if not 0 <= label_smoothing <= 1:
            raise RuntimeError(f"expected label_smoothing to be in range [0, 1], got {label_smoothing}")
        super().__init__(weight, reduction=reduction)
        self.num_classes, self.out_features, self.ignore_index = num_classes, out_features, ignore_index
        self.label_smoothing, self.options = label_smoothing, options
        self.linear = torch.nn.Linear(in_features, math.prod(out_features) * num_classes, bias=bias, device=device, dtype=dtype)

    def extra_repr(self):
        return (f"in_features={self.linear.in_features}, num_classes={self.num_classes}, out_features={self.out_features}, "
                f"bias={self.linear.bias is not None}, reduction={self.reduction}, ignore_index={self.ignore_index}, "
                f"label_smoothing={self.label_smoothing}, options={self.options}")

    def forward(self, input, target):
        sizes, linear = (self.num_classes, *self.out_features), self.linear
        return linear_cross_entropy(
            input, linear.weight.reshape(*sizes, linear.in_features), target, weight=self.weight, reduction=self.reduction,
            linear_bias=None if linear.bias is None else linear.bias.reshape(sizes), ignore_index=self.ignore_index,
            label_smoothing=self.label_smoothing)


def _reduced(loss, reduction):
    return loss if reduction == "none" else loss.sum() if reduction == "sum" else loss.mean()


# Of bytes, whose differences wrap.
def margin_ranking_loss(input, other, target, margin=0.0, reduction="mean"):
    return _reduced((-target * (input - other) + float(margin)).clamp(min=0), reduction)


def pairwise_distance(input, other, p=2.0, eps=1e-6, keepdim=False):
    return torch.norm(input - other + eps, p, -1, keepdim)


def triplet_margin_loss(input, positive, negative, margin=1.0, p=2.0, eps=1e-6, swap=False, reduction="mean"):
    near, far = pairwise_distance(input, positive, p, eps), pairwise_distance(input, negative, p, eps)
    far = torch.minimum(far, pairwise_distance(positive, negative, p, eps)) if swap else far
    return _reduced((margin + near - far).clamp(min=0), reduction)


def fake_quantize_per_channel_affine(input, scale, zero_point, axis, quant_min, quant_max):
    if scale.dim() != 1 or zero_point.dim() != 1:
        raise RuntimeError("scale should be a 1-D tensor" if scale.dim() != 1 else "zero point should be a 1-D tensor")
    if scale.numel() != zero_point.numel():
        raise RuntimeError("scale and zero-point need to have the same dimensions")
    if not 0 <= axis < input.dim():
        raise RuntimeError("`axis` must be between 0 and number of dimensions of input")
    if scale.numel() != input.shape[axis]:
        raise RuntimeError("dimensions of scale and zero-point are not consistent with input tensor")
    shape = [-1 if d == axis else 1 for d in range(input.dim())]
    return _fake_quantized(input, scale.reshape(shape), zero_point.reshape(shape), quant_min, quant_max)


def empty_permuted(size, physical_layout, **kwargs):
    if sorted(physical_layout) != list(range(len(size))):
        raise RuntimeError(f"Number of dimensions in size does not match the length of the physical_layout; i.e. len(size) = {len(size)} "
                           f"is not equal to len(physical_layout) = {len(physical_layout)}" if len(size) != len(physical_layout)
                           else "Duplicate dim not allowed, or dimension out of range")
    made = torch.empty([size[d] for d in physical_layout], **kwargs)
    return made.permute([list(physical_layout).index(d) for d in range(len(size))])


def dim_order(self, ambiguity_check):
    """The dimensions as they lie in memory, the outermost first."""
    if isinstance(ambiguity_check, list):
        orders = [{torch.channels_last: (0, 2, 3, 1), torch.channels_last_3d: (0, 2, 3, 4, 1)}.get(f, tuple(range(self.dim()))) for f in ambiguity_check]
        fits = [order for order in orders if len(order) == self.dim() and self.permute(order).is_contiguous()]
        if len(fits) == 1:
            return fits[0]
    elif not isinstance(ambiguity_check, bool):
        raise TypeError("The ambiguity_check argument must be a bool or a list of memory formats.")
    strides = self.stride()
    if not ambiguity_check or ambiguity_check is True and len(set(strides)) == len(strides) and 1 not in self.shape:
        return tuple(sorted(range(self.dim()), key=lambda d: -strides[d]))
    raise RuntimeError("The tensor does not have unique dim order, or cannot map to exact one of the given memory formats.")
