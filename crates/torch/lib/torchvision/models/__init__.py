"""torchvision.models that the zoo has."""

from torchvision.models.resnet import (
    ResNet, resnet18, resnet34, resnet50, resnet101, resnet152, resnext50_32x4d, wide_resnet50_2,
)
from torchvision.models.vgg import VGG, vgg11, vgg11_bn, vgg13, vgg13_bn, vgg16, vgg16_bn, vgg19, vgg19_bn


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(f"module 'torchvision.models' has no attribute '{name}'")
    from torch import _C
    known = [n for n in globals() if not n.startswith("_")]
    raise NotImplementedError(
        f"torchvision.models.{name} is not there; the nearest name is torchvision.models.{_C.nearest(name, known)}")
