"""MobileNet V2: Sandler et al., 2018."""

import torch
from torch import nn
from torchvision.models._made import maker, reset
from torchvision.ops.misc import Conv2dNormActivation


def _make_divisible(v, divisor, min_value=None):
    new = max(divisor if min_value is None else min_value, int(v + divisor / 2) // divisor * divisor)
    return new + divisor if new < 0.9 * v else new


class InvertedResidual(nn.Module):
    def __init__(self, inp, oup, stride, expand_ratio, norm_layer=None):
        super().__init__()
        if stride not in (1, 2):
            raise ValueError(f"stride should be 1 or 2 instead of {stride}")
        norm_layer = norm_layer or nn.BatchNorm2d
        self.stride, self.use_res_connect = stride, stride == 1 and inp == oup
        hidden, layers = int(round(inp * expand_ratio)), []
        if expand_ratio != 1:
            layers.append(Conv2dNormActivation(inp, hidden, kernel_size=1, norm_layer=norm_layer, activation_layer=nn.ReLU6))
        layers.append(Conv2dNormActivation(
            hidden, hidden, stride=stride, groups=hidden, norm_layer=norm_layer, activation_layer=nn.ReLU6))
        self.conv = nn.Sequential(*layers, nn.Conv2d(hidden, oup, 1, 1, 0, bias=False), norm_layer(oup))
        self.out_channels, self._is_cn = oup, stride > 1

    def forward(self, x):
        return x + self.conv(x) if self.use_res_connect else self.conv(x)


class MobileNetV2(nn.Module):
    def __init__(self, num_classes=1000, width_mult=1.0, inverted_residual_setting=None, round_nearest=8, block=None, norm_layer=None,
                 dropout=0.2):
        super().__init__()
        block, norm_layer = block or InvertedResidual, norm_layer or nn.BatchNorm2d
        # Expansion, channels, how many, stride.
        setting = inverted_residual_setting or [
            [1, 16, 1, 1], [6, 24, 2, 2], [6, 32, 3, 2], [6, 64, 4, 2], [6, 96, 3, 1], [6, 160, 3, 2], [6, 320, 1, 1]]
        channels = _make_divisible(32 * width_mult, round_nearest)
        self.last_channel = _make_divisible(1280 * max(1.0, width_mult), round_nearest)
        features = [Conv2dNormActivation(3, channels, stride=2, norm_layer=norm_layer, activation_layer=nn.ReLU6)]
        for t, c, n, s in setting:
            out = _make_divisible(c * width_mult, round_nearest)
            for i in range(n):
                features.append(block(channels, out, s if i == 0 else 1, expand_ratio=t, norm_layer=norm_layer))
                channels = out
        features.append(Conv2dNormActivation(channels, self.last_channel, kernel_size=1, norm_layer=norm_layer, activation_layer=nn.ReLU6))
        self.features = nn.Sequential(*features)
        self.classifier = nn.Sequential(nn.Dropout(p=dropout), nn.Linear(self.last_channel, num_classes))
        reset(self, lambda weight: nn.init.normal_(weight, 0, 0.01))

    def forward(self, x):
        x = nn.functional.adaptive_avg_pool2d(self.features(x), (1, 1))
        return self.classifier(torch.flatten(x, 1))


mobilenet_v2 = maker("mobilenet_v2", MobileNetV2)
