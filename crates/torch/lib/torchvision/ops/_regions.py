"""Parts of images: of boxes, of a pyramid's levels, and blocks that are dropped."""

from collections import OrderedDict

import torch
from torch import nn
from torch.nn import functional as F

__all__ = ["DropBlock2d", "DropBlock3d", "FeaturePyramidNetwork", "RoIAlign", "drop_block2d", "drop_block3d", "roi_align"]


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


def roi_align(input, boxes, output_size, spatial_scale=1.0, sampling_ratio=-1, aligned=False):
    if not isinstance(boxes, torch.Tensor):
        boxes = torch.cat([torch.cat((torch.full((len(b), 1), float(i)), b), 1) for i, b in enumerate(boxes)])
    height, width = (output_size, output_size) if isinstance(output_size, int) else output_size
    boxes = boxes.detach()
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
