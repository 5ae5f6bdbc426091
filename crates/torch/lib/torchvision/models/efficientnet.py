"""EfficientNet and EfficientNet V2: Tan and Le, 2019 and 2021."""

from functools import partial
from torch import nn
from torchvision.models._made import maker, reset
from torchvision.models.mobilenetv2 import _make_divisible
from torchvision.ops import StochasticDepth
from torchvision.ops.misc import Conv2dNormActivation, SqueezeExcitation
import copy
import math


class _MBConvConfig:
    def __init__(self, expand_ratio, kernel, stride, input_channels, out_channels, num_layers, block):
        self.expand_ratio, self.kernel, self.stride, self.block = expand_ratio, kernel, stride, block
        self.input_channels, self.out_channels, self.num_layers = input_channels, out_channels, num_layers

    @staticmethod
    def adjust_channels(channels, width_mult, min_value=None):
        return _make_divisible(channels * width_mult, 8, min_value)


class MBConvConfig(_MBConvConfig):
    def __init__(self, expand_ratio, kernel, stride, input_channels, out_channels, num_layers, width_mult=1.0, depth_mult=1.0, block=None):
        super().__init__(expand_ratio, kernel, stride, self.adjust_channels(input_channels, width_mult),
                         self.adjust_channels(out_channels, width_mult), self.adjust_depth(num_layers, depth_mult), block or MBConv)

    @staticmethod
    def adjust_depth(num_layers, depth_mult):
        return int(math.ceil(num_layers * depth_mult))


class FusedMBConvConfig(_MBConvConfig):
    def __init__(self, expand_ratio, kernel, stride, input_channels, out_channels, num_layers, block=None):
        super().__init__(expand_ratio, kernel, stride, input_channels, out_channels, num_layers, block or FusedMBConv)


class _Block(nn.Module):
    def __init__(self, cnf, stochastic_depth_prob, norm_layer, **kwargs):
        super().__init__()
        if not 1 <= cnf.stride <= 2:
            raise ValueError("illegal stride value")
        self.use_res_connect = cnf.stride == 1 and cnf.input_channels == cnf.out_channels
        inner = cnf.adjust_channels(cnf.input_channels, cnf.expand_ratio)
        layer = partial(Conv2dNormActivation, norm_layer=norm_layer, activation_layer=nn.SiLU)
        self.block = nn.Sequential(*self._layers(cnf, inner, layer, **kwargs))
        self.stochastic_depth = StochasticDepth(stochastic_depth_prob, "row")
        self.out_channels = cnf.out_channels

    def forward(self, input):
        made = self.block(input)
        return self.stochastic_depth(made) + input if self.use_res_connect else made


class MBConv(_Block):
    def _layers(self, cnf, inner, layer, se_layer=SqueezeExcitation):
        layers = [layer(cnf.input_channels, inner, kernel_size=1)] if inner != cnf.input_channels else []
        return layers + [layer(inner, inner, kernel_size=cnf.kernel, stride=cnf.stride, groups=inner),
                         se_layer(inner, max(1, cnf.input_channels // 4), activation=partial(nn.SiLU, inplace=True)),
                         layer(inner, cnf.out_channels, kernel_size=1, activation_layer=None)]


class FusedMBConv(_Block):
    def _layers(self, cnf, inner, layer):
        layer_of = partial(layer, kernel_size=cnf.kernel, stride=cnf.stride)
        if inner == cnf.input_channels:
            return [layer_of(inner, cnf.out_channels)]
        return [layer_of(cnf.input_channels, inner), layer(inner, cnf.out_channels, kernel_size=1, activation_layer=None)]


class EfficientNet(nn.Module):
    def __init__(self, inverted_residual_setting, dropout, stochastic_depth_prob=0.2, num_classes=1000, norm_layer=None, last_channel=None):
        super().__init__()
        if not inverted_residual_setting:
            raise ValueError("The inverted_residual_setting should not be empty")
        norm_layer = norm_layer or nn.BatchNorm2d
        layer = partial(Conv2dNormActivation, norm_layer=norm_layer, activation_layer=nn.SiLU)
        layers = [layer(3, inverted_residual_setting[0].input_channels, kernel_size=3, stride=2)]
        total, at = sum(cnf.num_layers for cnf in inverted_residual_setting), 0
        for cnf in inverted_residual_setting:
            stage = []
            for _ in range(cnf.num_layers):
                cnf = copy.copy(cnf)
                if stage:
                    cnf.input_channels, cnf.stride = cnf.out_channels, 1
                stage.append(cnf.block(cnf, stochastic_depth_prob * float(at) / total, norm_layer))
                at += 1
            layers.append(nn.Sequential(*stage))
        last = inverted_residual_setting[-1].out_channels
        last_channel = 4 * last if last_channel is None else last_channel
        self.features = nn.Sequential(*layers, layer(last, last_channel, kernel_size=1))
        self.avgpool = nn.AdaptiveAvgPool2d(1)
        self.classifier = nn.Sequential(nn.Dropout(p=dropout, inplace=True), nn.Linear(last_channel, num_classes))
        reach = 1.0 / math.sqrt(num_classes)
        reset(self, lambda weight: nn.init.uniform_(weight, -reach, reach))

    def forward(self, x):
        return self.classifier(self.avgpool(self.features(x)).flatten(1))


# Expansion, kernel, stride, channels in and out, layers; V2's first stages are fused.
_B = [(1, 3, 1, 32, 16, 1), (6, 3, 2, 16, 24, 2), (6, 5, 2, 24, 40, 2), (6, 3, 2, 40, 80, 3), (6, 5, 1, 80, 112, 3), (6, 5, 2, 112, 192, 4),
      (6, 3, 1, 192, 320, 1)]
_V2 = {"s": ([(24, 2), (48, 4), (64, 4)], [(4, 2, 128, 6), (6, 1, 160, 9), (6, 2, 256, 15)]),
       "m": ([(24, 3), (48, 5), (80, 5)], [(4, 2, 160, 7), (6, 1, 176, 14), (6, 2, 304, 18), (6, 1, 512, 5)]),
       "l": ([(32, 4), (64, 7), (96, 7)], [(4, 2, 192, 10), (6, 1, 224, 19), (6, 2, 384, 25), (6, 1, 640, 7)])}


def _make(width, depth, drop, norm, dropout=None, norm_layer=None, **kwargs):
    rows = [MBConvConfig(*row, width_mult=width, depth_mult=depth) for row in _B]
    return EfficientNet(rows, drop if dropout is None else dropout, norm_layer=norm_layer or norm, **kwargs)


def _make_v2(size, drop, dropout=None, norm_layer=None, **kwargs):
    fused, plain = _V2[size]
    channels, rows = fused[0][0], []
    for i, (out, n) in enumerate(fused):
        rows.append(FusedMBConvConfig(1 if i == 0 else 4, 3, 1 if i == 0 else 2, channels, out, n))
        channels = out
    for expansion, stride, out, n in plain:
        rows.append(MBConvConfig(expansion, 3, stride, channels, out, n))
        channels = out
    norm = partial(nn.BatchNorm2d, eps=1e-03)
    return EfficientNet(rows, drop if dropout is None else dropout, norm_layer=norm_layer or norm, last_channel=1280, **kwargs)


_norm = partial(nn.BatchNorm2d, eps=0.001, momentum=0.01)
for _i, (_width, _depth, _drop) in enumerate([(1.0, 1.0, 0.2), (1.0, 1.1, 0.2), (1.1, 1.2, 0.3), (1.2, 1.4, 0.3), (1.4, 1.8, 0.4), (1.6, 2.2, 0.4),
                                              (1.8, 2.6, 0.5), (2.0, 3.1, 0.5)]):
    globals()[f"efficientnet_b{_i}"] = maker(f"efficientnet_b{_i}", _make, _width, _depth, _drop, _norm if _i > 4 else None)
for _size, _drop in (("s", 0.2), ("m", 0.3), ("l", 0.4)):
    globals()[f"efficientnet_v2_{_size}"] = maker(f"efficientnet_v2_{_size}", _make_v2, _size, _drop)
