"""Parts of images: of boxes, of a pyramid's levels, and blocks that are dropped."""

from collections import OrderedDict
import math

import torch
from torch import nn
from torch.nn import functional as F

__all__ = ["DropBlock2d", "DropBlock3d", "FeaturePyramidNetwork", "LastLevelMaxPool", "MultiScaleRoIAlign", "PSRoIAlign", "RoIAlign", "RoIPool",
           "drop_block2d", "drop_block3d", "ps_roi_align", "roi_align", "roi_pool"]


def _weights(start, size, bins, samples, length):
    """What each of `length` places gives to each bin: boxes x bins x places, the mean over a bin's samples of linear interpolation."""
    # A box has its own number of samples: those beyond it count nothing.
    most = max(int(samples.max()), 1) if samples.numel() else 1
    s, shares = torch.arange(most), samples.clamp(min=1)[:, None, None]
    at = torch.arange(bins)[None, :, None] + (s + 0.5)[None, None, :] / shares
    at = start[:, None, None] + at * (size / bins)[:, None, None]
    counts = (s[None, None, :] < samples[:, None, None]) & (at >= -1) & (at <= length)
    near = (1 - (at.clamp(0, length - 1)[..., None] - torch.arange(length)).abs()).clamp(min=0)
    return (near * counts[..., None]).sum(2) / shares


def _numbered(boxes, output_size):
    """Boxes with the number of their image before them, and the rows and columns of the result."""
    if not isinstance(boxes, torch.Tensor):
        boxes = torch.cat([torch.cat((torch.full((len(b), 1), float(i)), b), 1) for i, b in enumerate(boxes)])
    return boxes.detach(), (output_size, output_size) if isinstance(output_size, int) else output_size


def roi_pool(input, boxes, output_size, spatial_scale=1.0):
    boxes, bins = _numbered(boxes, output_size)
    x, corners = input[boxes[:, 0].long()], boxes[:, 1:] * spatial_scale
    corners = torch.where(corners >= 0, (corners + 0.5).floor(), (corners - 0.5).ceil())
    # Largest elements along the rows, then along the columns; what no element is in becomes 0.
    for axis, count in ((1, bins[0]), (0, bins[1])):
        length, start = input.shape[3 - axis], corners[:, axis, None]
        step = (corners[:, 2 + axis, None] - start + 1).clamp(min=1) / count
        first = ((torch.arange(count) * step).floor() + start).clamp(0, length)[..., None]
        last = ((torch.arange(1, count + 1) * step).ceil() + start).clamp(0, length)[..., None]
        inside = (torch.arange(length) >= first) & (torch.arange(length) < last)
        inside, x = (inside[:, None, :, :, None], x[:, :, None]) if axis else (inside[:, None, None], x[:, :, :, None])
        x = x.masked_fill(~inside, float("-inf")).max(4 - axis).values
    return x.masked_fill(x.isinf(), 0.0)


def ps_roi_align(input, boxes, output_size, spatial_scale=1.0, sampling_ratio=-1):
    _, (height, width) = _numbered(boxes, output_size)
    if input.shape[1] % (height * width):
        raise RuntimeError("input channels must be a multiple of pooling height * pooling width")
    made = roi_align(input, boxes, (height, width), spatial_scale, sampling_ratio, aligned=True)
    # Each place of the result has channels of its own.
    made = made.reshape(made.shape[0], -1, height, width, height, width)
    return made.diagonal(dim1=2, dim2=4).diagonal(dim1=2, dim2=3)


def roi_align(input, boxes, output_size, spatial_scale=1.0, sampling_ratio=-1, aligned=False):
    boxes, (height, width) = _numbered(boxes, output_size)
    corners = boxes[:, 1:] * spatial_scale - (0.5 if aligned else 0.0)
    sizes = corners[:, 2:] - corners[:, :2]
    if not aligned:
        sizes = sizes.clamp(min=1)
    each = []
    for axis, bins in ((1, height), (0, width)):
        samples = torch.full_like(sizes[:, axis], sampling_ratio) if sampling_ratio > 0 else (sizes[:, axis] / bins).ceil()
        each.append(_weights(corners[:, axis], sizes[:, axis], bins, samples, input.shape[3 - axis]))
    return torch.einsum("kph,kchw,kqw->kcpq", each[0], input[boxes[:, 0].long()], each[1])


class RoIAlign(nn.Module):
    def __init__(self, output_size, spatial_scale, sampling_ratio, aligned=False):
        super().__init__()
        self.output_size, self.spatial_scale, self.sampling_ratio, self.aligned = output_size, spatial_scale, sampling_ratio, aligned

    def forward(self, input, rois):
        return roi_align(input, rois, self.output_size, self.spatial_scale, self.sampling_ratio, self.aligned)

    def __repr__(self):
        return (f"RoIAlign(output_size={self.output_size}, spatial_scale={self.spatial_scale}, "
                f"sampling_ratio={self.sampling_ratio}, aligned={self.aligned})")


class RoIPool(nn.Module):
    def __init__(self, output_size, spatial_scale):
        super().__init__()
        self.output_size, self.spatial_scale = output_size, spatial_scale

    def forward(self, input, rois):
        return roi_pool(input, rois, self.output_size, self.spatial_scale)

    def __repr__(self):
        return f"RoIPool(output_size={self.output_size}, spatial_scale={self.spatial_scale})"


class PSRoIAlign(nn.Module):
    def __init__(self, output_size, spatial_scale, sampling_ratio):
        super().__init__()
        self.output_size, self.spatial_scale, self.sampling_ratio = output_size, spatial_scale, sampling_ratio

    def forward(self, input, rois):
        return ps_roi_align(input, rois, self.output_size, self.spatial_scale, self.sampling_ratio)

    def __repr__(self):
        return f"PSRoIAlign(output_size={self.output_size}, spatial_scale={self.spatial_scale}, sampling_ratio={self.sampling_ratio})"


class MultiScaleRoIAlign(nn.Module):
    """Each box is looked at on the level of a pyramid that its size asks for."""

    def __init__(self, featmap_names, output_size, sampling_ratio, *, canonical_scale=224, canonical_level=4):
        super().__init__()
        self.featmap_names, self.sampling_ratio = featmap_names, sampling_ratio
        self.output_size = (output_size, output_size) if isinstance(output_size, int) else tuple(output_size)
        self.canonical_scale, self.canonical_level, self.scales, self.map_levels = canonical_scale, canonical_level, None, None

    def forward(self, x, boxes, image_shapes):
        levels = [v for k, v in x.items() if k in self.featmap_names]
        rows = max(shape[0] for shape in image_shapes)
        self.scales = [2 ** round(math.log2(level.shape[-2] / rows)) for level in levels]
        rois, _ = _numbered(boxes, self.output_size)
        if len(levels) == 1:
            return roi_align(levels[0], rois, self.output_size, self.scales[0], self.sampling_ratio)
        size = ((rois[:, 3] - rois[:, 1]) * (rois[:, 4] - rois[:, 2])).sqrt()
        at = (self.canonical_level + torch.log2(size / self.canonical_scale) + 1e-6).floor()
        lowest, highest = -math.log2(self.scales[0]), -math.log2(self.scales[-1])
        at = at.clamp(lowest, highest).to(torch.int64) - int(lowest)
        made = torch.zeros((len(rois), levels[0].shape[1], *self.output_size), dtype=levels[0].dtype)
        for i, (level, scale) in enumerate(zip(levels, self.scales)):
            here = torch.where(at == i)[0]
            made = made.index_put((here,), roi_align(level, rois[here], self.output_size, scale, self.sampling_ratio).to(made.dtype))
        return made

    def __repr__(self):
        return (f"MultiScaleRoIAlign(featmap_names={self.featmap_names}, output_size={self.output_size}, "
                f"sampling_ratio={self.sampling_ratio})")


class LastLevelMaxPool(nn.Module):
    def forward(self, x, y, names):
        names.append("pool")
        x.append(F.max_pool2d(x[-1], kernel_size=1, stride=2, padding=0))
        return x, names


def _drop_block(pool, dims, input, p, block_size, inplace, eps, training):
    if p < 0.0 or p > 1.0:
        raise ValueError(f"drop probability has to be between 0 and 1, but got {p}.")
    if input.ndim != dims + 2:
        raise ValueError(f"input should be {dims + 2} dimensional. Got {input.ndim} dimensions.")
    if not training or p == 0.0:
        return input
    sizes = input.shape[2:]
    block = min(block_size, *sizes)
    if block % 2 == 0:
        raise ValueError(f"block size should be odd. Got {block} which is even.")
    gamma = p
    for n in sizes:
        gamma *= n / (block * (n - block + 1))
    noise = torch.empty((*input.shape[:2], *[n - block + 1 for n in sizes]), dtype=input.dtype).bernoulli_(gamma)
    kept = 1 - pool(F.pad(noise, [block // 2] * (2 * dims)), block, 1, block // 2)
    scale = kept.numel() / (eps + kept.sum())
    return input.mul_(kept).mul_(scale) if inplace else input * kept * scale


def drop_block2d(input, p, block_size, inplace=False, eps=1e-6, training=True):
    return _drop_block(F.max_pool2d, 2, input, p, block_size, inplace, eps, training)


def drop_block3d(input, p, block_size, inplace=False, eps=1e-6, training=True):
    return _drop_block(F.max_pool3d, 3, input, p, block_size, inplace, eps, training)


class DropBlock2d(nn.Module):
    _dropped = staticmethod(drop_block2d)

    def __init__(self, p, block_size, inplace=False, eps=1e-6):
        super().__init__()
        self.p, self.block_size, self.inplace, self.eps = p, block_size, inplace, eps

    def forward(self, input):
        return self._dropped(input, self.p, self.block_size, self.inplace, self.eps, self.training)

    def __repr__(self):
        return f"{type(self).__name__}(p={self.p}, block_size={self.block_size}, inplace={self.inplace})"


class DropBlock3d(DropBlock2d):
    _dropped = staticmethod(drop_block3d)


class FeaturePyramidNetwork(nn.Module):
    def __init__(self, in_channels_list, out_channels, extra_blocks=None, norm_layer=None):
        super().__init__()
        from torchvision.ops import Conv2dNormActivation
        if 0 in in_channels_list:
            raise ValueError("in_channels=0 is currently not supported")
        made = [[Conv2dNormActivation(n, out_channels, kernel_size=1, padding=0, norm_layer=norm_layer, activation_layer=None),
                 Conv2dNormActivation(out_channels, out_channels, kernel_size=3, norm_layer=norm_layer, activation_layer=None)]
                for n in in_channels_list]
        self.inner_blocks = nn.ModuleList([m[0] for m in made])
        self.layer_blocks = nn.ModuleList([m[1] for m in made])
        for m in self.modules():
            if isinstance(m, nn.Conv2d):
                nn.init.kaiming_uniform_(m.weight, a=1)
                if m.bias is not None:
                    nn.init.constant_(m.bias, 0)
        self.extra_blocks = extra_blocks

    def forward(self, x):
        names, x = list(x.keys()), list(x.values())
        above, results = None, []
        for i in reversed(range(len(x))):
            here = self.inner_blocks[i](x[i])
            above = here if above is None else here + F.interpolate(above, size=here.shape[-2:], mode="nearest")
            results.insert(0, self.layer_blocks[i](above))
        if self.extra_blocks is not None:
            results, names = self.extra_blocks(results, x, names)
        return OrderedDict(zip(names, results))
