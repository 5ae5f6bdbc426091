"""SqueezeNet: Iandola et al., 2016."""

import torch
from torch import nn
from torchvision.models._made import maker


class Fire(nn.Module):
    def __init__(self, inplanes, squeeze_planes, expand1x1_planes, expand3x3_planes):
        super().__init__()
        self.inplanes = inplanes
        self.squeeze = nn.Conv2d(inplanes, squeeze_planes, kernel_size=1)
        self.squeeze_activation = nn.ReLU(inplace=True)
        self.expand1x1 = nn.Conv2d(squeeze_planes, expand1x1_planes, kernel_size=1)
        self.expand1x1_activation = nn.ReLU(inplace=True)
        self.expand3x3 = nn.Conv2d(squeeze_planes, expand3x3_planes, kernel_size=3, padding=1)
        self.expand3x3_activation = nn.ReLU(inplace=True)

    def forward(self, x):
        x = self.squeeze_activation(self.squeeze(x))
        return torch.cat([self.expand1x1_activation(self.expand1x1(x)), self.expand3x3_activation(self.expand3x3(x))], 1)


# Squeezed and expanded channels; 0 where it is pooled.
_PLANES = {"1_0": (16, 16, 32, 0, 32, 48, 48, 64, 0, 64), "1_1": (16, 16, 0, 32, 32, 0, 48, 48, 64, 64)}


class SqueezeNet(nn.Module):
    def __init__(self, version="1_0", num_classes=1000, dropout=0.5):
        super().__init__()
        if version not in _PLANES:
            raise ValueError(f"Unsupported SqueezeNet version {version}: 1_0 or 1_1 expected")
        self.num_classes = num_classes
        channels, size = (96, 7) if version == "1_0" else (64, 3)
        layers = [nn.Conv2d(3, channels, kernel_size=size, stride=2), nn.ReLU(inplace=True)]
        for planes in (0,) + _PLANES[version]:
            if planes == 0:
                layers.append(nn.MaxPool2d(kernel_size=3, stride=2, ceil_mode=True))
            else:
                layers.append(Fire(channels, planes, 4 * planes, 4 * planes))
                channels = 8 * planes
        self.features = nn.Sequential(*layers)
        final = nn.Conv2d(512, num_classes, kernel_size=1)
        self.classifier = nn.Sequential(nn.Dropout(p=dropout), final, nn.ReLU(inplace=True), nn.AdaptiveAvgPool2d((1, 1)))
        for m in self.modules():
            if isinstance(m, nn.Conv2d):
                if m is final:
                    nn.init.normal_(m.weight, mean=0.0, std=0.01)
                else:
                    nn.init.kaiming_uniform_(m.weight)
                nn.init.constant_(m.bias, 0)

    def forward(self, x):
        return torch.flatten(self.classifier(self.features(x)), 1)


squeezenet1_0, squeezenet1_1 = maker("squeezenet1_0", SqueezeNet, "1_0"), maker("squeezenet1_1", SqueezeNet, "1_1")
