"""torchvision.ops: boxes, and layers that its models are made of."""

import _missing
import torch
from torch import nn
from torch.nn import functional as F
from torchvision.ops._losses import *
from torchvision.ops._regions import *


def box_area(boxes):
    return (boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1])


def _overlaps(a, b):
    corner = torch.min(a[:, None, 2:], b[:, 2:]) - torch.max(a[:, None, :2], b[:, :2])
    inter = corner.clamp(min=0).prod(2)
    return inter, box_area(a)[:, None] + box_area(b) - inter


def box_iou(boxes1, boxes2):
    inter, union = _overlaps(boxes1, boxes2)
    return inter / union


def generalized_box_iou(boxes1, boxes2):
    inter, union = _overlaps(boxes1, boxes2)
    hull = torch.max(boxes1[:, None, 2:], boxes2[:, 2:]) - torch.min(boxes1[:, None, :2], boxes2[:, :2])
    area = hull.clamp(min=0).prod(2)
    return inter / union - (area - union) / area


def nms(boxes, scores, iou_threshold):
    overlaps = box_iou(boxes, boxes).tolist()
    kept = []
    for i in scores.argsort(descending=True).tolist():
        if all([overlaps[i][k] <= iou_threshold for k in kept]):
            kept.append(i)
    return torch.tensor(kept, dtype=torch.int64)


def batched_nms(boxes, scores, idxs, iou_threshold):
    if boxes.numel() == 0:
        return torch.empty((0,), dtype=torch.int64)
    apart = idxs.to(boxes.dtype) * (boxes.max() + 1)
    return nms(boxes + apart[:, None], scores, iou_threshold)


def clip_boxes_to_image(boxes, size):
    height, width = size
    x, y = boxes[..., 0::2].clamp(0, width), boxes[..., 1::2].clamp(0, height)
    return torch.stack((x, y), boxes.dim()).reshape(boxes.shape)


def remove_small_boxes(boxes, min_size):
    sizes = boxes[:, 2:] - boxes[:, :2]
    return torch.where((sizes >= min_size).all(1))[0]


def box_convert(boxes, in_fmt, out_fmt):
    a, b, c, d = boxes.unbind(-1)
    if in_fmt == "xywh":
        a, b, c, d = a, b, a + c, b + d
    elif in_fmt == "cxcywh":
        a, b, c, d = a - 0.5 * c, b - 0.5 * d, a + 0.5 * c, b + 0.5 * d
    if out_fmt == "xywh":
        a, b, c, d = a, b, c - a, d - b
    elif out_fmt == "cxcywh":
        a, b, c, d = (a + c) / 2, (b + d) / 2, c - a, d - b
    return torch.stack((a, b, c, d), -1)


def sigmoid_focal_loss(inputs, targets, alpha=0.25, gamma=2, reduction="none"):
    p = inputs.sigmoid()
    each = F.binary_cross_entropy_with_logits(inputs, targets, reduction="none")
    right = p * targets + (1 - p) * (1 - targets)
    loss = each * (1 - right) ** gamma
    if alpha >= 0:
        loss = (alpha * targets + (1 - alpha) * (1 - targets)) * loss
    return loss if reduction == "none" else loss.mean() if reduction == "mean" else loss.sum()


def stochastic_depth(input, p, mode, training=True):
    if p < 0.0 or p > 1.0:
        raise ValueError(f"drop probability has to be between 0 and 1, but got {p}")
    if mode not in ("batch", "row"):
        raise ValueError(f"mode has to be either 'batch' or 'row', but got {mode}")
    if not training or p == 0.0:
        return input
    shape = [input.shape[0]] + [1] * (input.dim() - 1) if mode == "row" else [1] * input.dim()
    noise = torch.empty(shape, dtype=input.dtype).bernoulli_(1.0 - p)
    return input * (noise / (1.0 - p) if p < 1.0 else noise)


class StochasticDepth(nn.Module):
    def __init__(self, p, mode):
        super().__init__()
        self.p, self.mode = p, mode

    def forward(self, input):
        return stochastic_depth(input, self.p, self.mode, self.training)

    def __repr__(self):
        return f"StochasticDepth(p={self.p}, mode={self.mode})"


class FrozenBatchNorm2d(nn.Module):
    def __init__(self, num_features, eps=1e-5):
        super().__init__()
        self.eps = eps
        for name, value in (("weight", 1.0), ("bias", 0.0), ("running_mean", 0.0), ("running_var", 1.0)):
            self.register_buffer(name, torch.full((num_features,), value))

    def forward(self, x):
        scale = self.weight.reshape(1, -1, 1, 1) * (self.running_var.reshape(1, -1, 1, 1) + self.eps).rsqrt()
        return x * scale + (self.bias.reshape(1, -1, 1, 1) - self.running_mean.reshape(1, -1, 1, 1) * scale)

    def __repr__(self):
        return f"FrozenBatchNorm2d({self.weight.shape[0]}, eps={self.eps})"


class Conv2dNormActivation(nn.Sequential):
    def __init__(self, in_channels, out_channels, kernel_size=3, stride=1, padding=None, groups=1, norm_layer=nn.BatchNorm2d,
                 activation_layer=nn.ReLU, dilation=1, inplace=True, bias=None):
        if padding is None:
            sizes = [kernel_size, kernel_size] if isinstance(kernel_size, int) else kernel_size
            spread = [dilation] * len(sizes) if isinstance(dilation, int) else dilation
            padding = tuple([(k - 1) // 2 * d for k, d in zip(sizes, spread)])
            padding = padding[0] if isinstance(kernel_size, int) and isinstance(dilation, int) else padding
        bias = norm_layer is None if bias is None else bias
        layers = [nn.Conv2d(in_channels, out_channels, kernel_size, stride, padding, dilation=dilation, groups=groups, bias=bias)]
        if norm_layer is not None:
            layers.append(norm_layer(out_channels))
        if activation_layer is not None:
            layers.append(activation_layer() if inplace is None else activation_layer(inplace=inplace))
        super().__init__(*layers)
        self.out_channels = out_channels


ConvNormActivation = Conv2dNormActivation


class SqueezeExcitation(nn.Module):
    def __init__(self, input_channels, squeeze_channels, activation=nn.ReLU, scale_activation=nn.Sigmoid):
        super().__init__()
        self.avgpool = nn.AdaptiveAvgPool2d(1)
        self.fc1, self.fc2 = nn.Conv2d(input_channels, squeeze_channels, 1), nn.Conv2d(squeeze_channels, input_channels, 1)
        self.activation, self.scale_activation = activation(), scale_activation()

    def forward(self, input):
        return self.scale_activation(self.fc2(self.activation(self.fc1(self.avgpool(input))))) * input


class MLP(nn.Sequential):
    def __init__(self, in_channels, hidden_channels, norm_layer=None, activation_layer=nn.ReLU, inplace=None, bias=True, dropout=0.0):
        more = {} if inplace is None else {"inplace": inplace}
        layers, size = [], in_channels
        for n in hidden_channels[:-1]:
            layers.append(nn.Linear(size, n, bias=bias))
            if norm_layer is not None:
                layers.append(norm_layer(n))
            layers += [activation_layer(**more), nn.Dropout(dropout, **more)]
            size = n
        super().__init__(*layers, nn.Linear(size, hidden_channels[-1], bias=bias), nn.Dropout(dropout, **more))


class Permute(nn.Module):
    def __init__(self, dims):
        super().__init__()
        self.dims = dims

    def forward(self, x):
        return torch.permute(x, self.dims)


__getattr__ = _missing.names("torchvision.ops", globals())
