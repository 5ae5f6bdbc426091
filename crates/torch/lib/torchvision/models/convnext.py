"""ConvNeXt: Liu et al., 2022."""

from functools import partial
import torch
from torch import nn
from torch.nn import functional as F
from torchvision.models._made import maker
from torchvision.ops import StochasticDepth
from torchvision.ops.misc import Conv2dNormActivation, Permute


class LayerNorm2d(nn.LayerNorm):
    def forward(self, x):
        return F.layer_norm(x.permute(0, 2, 3, 1), self.normalized_shape, self.weight, self.bias, self.eps).permute(0, 3, 1, 2)


class CNBlock(nn.Module):
    def __init__(self, dim, layer_scale, stochastic_depth_prob, norm_layer=None):
        super().__init__()
        norm_layer = norm_layer or partial(nn.LayerNorm, eps=1e-6)
        self.block = nn.Sequential(
            nn.Conv2d(dim, dim, kernel_size=7, padding=3, groups=dim, bias=True), Permute([0, 2, 3, 1]), norm_layer(dim),
            nn.Linear(dim, 4 * dim), nn.GELU(), nn.Linear(4 * dim, dim), Permute([0, 3, 1, 2]))
        self.layer_scale = nn.Parameter(torch.ones(dim, 1, 1) * layer_scale)
        self.stochastic_depth = StochasticDepth(stochastic_depth_prob, "row")

    def forward(self, input):
        return self.stochastic_depth(self.layer_scale * self.block(input)) + input


class CNBlockConfig:
    def __init__(self, input_channels, out_channels, num_layers):
        self.input_channels, self.out_channels, self.num_layers = input_channels, out_channels, num_layers

    def __repr__(self):
        return f"CNBlockConfig(input_channels={self.input_channels}, out_channels={self.out_channels}, num_layers={self.num_layers})"


class ConvNeXt(nn.Module):
    def __init__(self, block_setting, stochastic_depth_prob=0.0, layer_scale=1e-6, num_classes=1000, block=None, norm_layer=None, **kwargs):
        super().__init__()
        if not block_setting:
            raise ValueError("The block_setting should not be empty")
        block, norm_layer = block or CNBlock, norm_layer or partial(LayerNorm2d, eps=1e-6)
        layers = [Conv2dNormActivation(3, block_setting[0].input_channels, kernel_size=4, stride=4, padding=0, norm_layer=norm_layer,
                                       activation_layer=None, bias=True)]
        total, at = sum(cnf.num_layers for cnf in block_setting), 0
        for cnf in block_setting:
            stage = []
            for _ in range(cnf.num_layers):
                stage.append(block(cnf.input_channels, layer_scale, stochastic_depth_prob * at / (total - 1.0)))
                at += 1
            layers.append(nn.Sequential(*stage))
            if cnf.out_channels is not None:
                layers.append(nn.Sequential(
                    norm_layer(cnf.input_channels), nn.Conv2d(cnf.input_channels, cnf.out_channels, kernel_size=2, stride=2)))
        self.features, self.avgpool = nn.Sequential(*layers), nn.AdaptiveAvgPool2d(1)
        last = block_setting[-1].input_channels if block_setting[-1].out_channels is None else block_setting[-1].out_channels
        self.classifier = nn.Sequential(norm_layer(last), nn.Flatten(1), nn.Linear(last, num_classes))
        for m in self.modules():
            if isinstance(m, (nn.Conv2d, nn.Linear)):
                nn.init.trunc_normal_(m.weight, std=0.02)
                if m.bias is not None:
                    nn.init.zeros_(m.bias)

    def forward(self, x):
        return self.classifier(self.avgpool(self.features(x)))


def _make(width, deep, drop, stochastic_depth_prob=None, **kwargs):
    rows = [CNBlockConfig(width << i, None if i == 3 else width << (i + 1), deep if i == 2 else 3) for i in range(4)]
    return ConvNeXt(rows, stochastic_depth_prob=drop if stochastic_depth_prob is None else stochastic_depth_prob, **kwargs)


convnext_tiny, convnext_small = maker("convnext_tiny", _make, 96, 9, 0.1), maker("convnext_small", _make, 96, 27, 0.4)
convnext_base, convnext_large = maker("convnext_base", _make, 128, 27, 0.5), maker("convnext_large", _make, 192, 27, 0.5)
