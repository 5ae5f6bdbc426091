"""MobileNet V3: Howard et al., 2019."""

from functools import partial
from torch import nn
from torchvision.models._made import maker, reset
from torchvision.models.mobilenetv2 import _make_divisible
from torchvision.ops.misc import Conv2dNormActivation, SqueezeExcitation


class InvertedResidualConfig:
    def __init__(self, input_channels, kernel, expanded_channels, out_channels, use_se, activation, stride, dilation, width_mult):
        self.input_channels, self.kernel = self.adjust_channels(input_channels, width_mult), kernel
        self.expanded_channels = self.adjust_channels(expanded_channels, width_mult)
        self.out_channels = self.adjust_channels(out_channels, width_mult)
        self.use_se, self.use_hs, self.stride, self.dilation = use_se, activation == "HS", stride, dilation

    @staticmethod
    def adjust_channels(channels, width_mult):
        return _make_divisible(channels * width_mult, 8)


class InvertedResidual(nn.Module):
    def __init__(self, cnf, norm_layer, se_layer=partial(SqueezeExcitation, scale_activation=nn.Hardsigmoid)):
        super().__init__()
        if not 1 <= cnf.stride <= 2:
            raise ValueError("illegal stride value")
        self.use_res_connect = cnf.stride == 1 and cnf.input_channels == cnf.out_channels
        inner, layers = cnf.expanded_channels, []
        layer = partial(Conv2dNormActivation, norm_layer=norm_layer, activation_layer=nn.Hardswish if cnf.use_hs else nn.ReLU)
        if inner != cnf.input_channels:
            layers.append(layer(cnf.input_channels, inner, kernel_size=1))
        stride = 1 if cnf.dilation > 1 else cnf.stride
        layers.append(layer(inner, inner, kernel_size=cnf.kernel, stride=stride, dilation=cnf.dilation, groups=inner))
        if cnf.use_se:
            layers.append(se_layer(inner, _make_divisible(inner // 4, 8)))
        layers.append(Conv2dNormActivation(inner, cnf.out_channels, kernel_size=1, norm_layer=norm_layer, activation_layer=None))
        self.block = nn.Sequential(*layers)
        self.out_channels, self._is_cn = cnf.out_channels, cnf.stride > 1

    def forward(self, input):
        made = self.block(input)
        return made + input if self.use_res_connect else made


class MobileNetV3(nn.Module):
    def __init__(self, inverted_residual_setting, last_channel, num_classes=1000, block=None, norm_layer=None, dropout=0.2, **kwargs):
        super().__init__()
        if not inverted_residual_setting:
            raise ValueError("The inverted_residual_setting should not be empty")
        norm_layer = norm_layer or partial(nn.BatchNorm2d, eps=0.001, momentum=0.01)
        layer = partial(Conv2dNormActivation, norm_layer=norm_layer, activation_layer=nn.Hardswish)
        layers = [layer(3, inverted_residual_setting[0].input_channels, kernel_size=3, stride=2)]
        layers += [(block or InvertedResidual)(cnf, norm_layer) for cnf in inverted_residual_setting]
        last = inverted_residual_setting[-1].out_channels
        self.features = nn.Sequential(*layers, layer(last, 6 * last, kernel_size=1))
        self.avgpool = nn.AdaptiveAvgPool2d(1)
        self.classifier = nn.Sequential(nn.Linear(6 * last, last_channel), nn.Hardswish(inplace=True), nn.Dropout(p=dropout, inplace=True),
                                        nn.Linear(last_channel, num_classes))
        reset(self, lambda weight: nn.init.normal_(weight, 0, 0.01))

    def forward(self, x):
        return self.classifier(self.avgpool(self.features(x)).flatten(1))


# Input channels, kernel, expanded channels, output channels, squeezed, activation, stride; the last blocks are dilated or reduced.
_ROWS = {
    "large": [(16, 3, 16, 16, 0, "RE", 1), (16, 3, 64, 24, 0, "RE", 2), (24, 3, 72, 24, 0, "RE", 1), (24, 5, 72, 40, 1, "RE", 2),
              (40, 5, 120, 40, 1, "RE", 1), (40, 5, 120, 40, 1, "RE", 1), (40, 3, 240, 80, 0, "HS", 2), (80, 3, 200, 80, 0, "HS", 1),
              (80, 3, 184, 80, 0, "HS", 1), (80, 3, 184, 80, 0, "HS", 1), (80, 3, 480, 112, 1, "HS", 1), (112, 3, 672, 112, 1, "HS", 1),
              (112, 5, 672, 160, 1, "HS", 2), (160, 5, 960, 160, 1, "HS", 1), (160, 5, 960, 160, 1, "HS", 1)],
    "small": [(16, 3, 16, 16, 1, "RE", 2), (16, 3, 72, 24, 0, "RE", 2), (24, 3, 88, 24, 0, "RE", 1), (24, 5, 96, 40, 1, "HS", 2),
              (40, 5, 240, 40, 1, "HS", 1), (40, 5, 240, 40, 1, "HS", 1), (40, 5, 120, 48, 1, "HS", 1), (48, 5, 144, 48, 1, "HS", 1),
              (48, 5, 288, 96, 1, "HS", 2), (96, 5, 576, 96, 1, "HS", 1), (96, 5, 576, 96, 1, "HS", 1)],
}


def _make(size, *, width_mult=1.0, reduced_tail=False, dilated=False, **kwargs):
    rows, by = [], 2 if reduced_tail else 1
    for i, (n, kernel, inner, out, squeezed, activation, stride) in enumerate(_ROWS[size]):
        at = i - len(_ROWS[size]) + 3
        if at >= 0:
            out //= by
            if at > 0:
                n, inner = n // by, inner // by
        rows.append(InvertedResidualConfig(
            n, kernel, inner, out, bool(squeezed), activation, stride, 2 if dilated and at >= 0 else 1, width_mult))
    last = InvertedResidualConfig.adjust_channels((1280 if size == "large" else 1024) // by, width_mult)
    return MobileNetV3(rows, last, **kwargs)


mobilenet_v3_large, mobilenet_v3_small = maker("mobilenet_v3_large", _make, "large"), maker("mobilenet_v3_small", _make, "small")
