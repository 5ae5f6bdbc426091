"""torchvision.models that the zoo has."""

import _missing
import importlib
import sys
from torchvision.models.alexnet import AlexNet, alexnet
from torchvision.models.densenet import DenseNet, densenet121, densenet161, densenet169, densenet201
from torchvision.models.mobilenetv2 import MobileNetV2, mobilenet_v2
from torchvision.models.resnet import (
    ResNet, resnet18, resnet34, resnet50, resnet101, resnet152, resnext50_32x4d, wide_resnet50_2,
)
from torchvision.models.squeezenet import SqueezeNet, squeezenet1_0, squeezenet1_1
from torchvision.models.vgg import VGG, vgg11, vgg11_bn, vgg13, vgg13_bn, vgg16, vgg16_bn, vgg19, vgg19_bn


class _Weights:
    """Names of pretrained weights, which are files that the user has: a model made with one says so."""

    def __init__(self, name):
        self.name = name

    def transforms(self):
        from torchvision.transforms import CenterCrop, Compose, Normalize, Resize, ToTensor
        return Compose([Resize(256), CenterCrop(224), ToTensor(), Normalize([0.485, 0.456, 0.406], [0.229, 0.224, 0.225])])


class _WeightsEnum:
    IMAGENET1K_V1 = DEFAULT = _Weights("IMAGENET1K_V1")
    IMAGENET1K_V2 = _Weights("IMAGENET1K_V2")


AlexNet_Weights = DenseNet121_Weights = DenseNet161_Weights = DenseNet169_Weights = DenseNet201_Weights = _WeightsEnum
MobileNet_V2_Weights = SqueezeNet1_0_Weights = SqueezeNet1_1_Weights = _WeightsEnum
ResNet18_Weights = ResNet34_Weights = VGG11_Weights = VGG13_Weights = VGG16_Weights = VGG19_Weights = _WeightsEnum


class ResNet50_Weights(_WeightsEnum):
    DEFAULT = _WeightsEnum.IMAGENET1K_V2


ResNet101_Weights = ResNet152_Weights = ResNet50_Weights
_absent = _missing.names("torchvision.models", globals())
# What is read when it is asked for, by its file.
_LATER = {
    "mobilenetv3": "MobileNetV3 mobilenet_v3_large mobilenet_v3_small",
    "efficientnet": "EfficientNet " + " ".join([f"efficientnet_{k}" for k in "b0 b1 b2 b3 b4 b5 b6 b7 v2_s v2_m v2_l".split()]),
    "convnext": "ConvNeXt convnext_tiny convnext_small convnext_base convnext_large",
    "vision_transformer": "VisionTransformer vit_b_16 vit_b_32 vit_l_16 vit_l_32 vit_h_14",
}


def __getattr__(name):
    builder = name.removesuffix("_Weights").lower()
    for file, names in _LATER.items():
        if name in names.split():
            return getattr(importlib.import_module(f"torchvision.models.{file}"), name)
        if name.endswith("_Weights") and builder in names.split():
            return _WeightsEnum
    return _absent(name)


def list_models():
    found = [n for n, f in globals().items() if callable(f) and n.islower() and not n.startswith(("_", "get_", "list_"))]
    return sorted(found + [n for names in _LATER.values() for n in names.split() if n.islower()])


def get_model_builder(name):
    if name.lower() not in list_models():
        raise ValueError(f"Unknown model {name.lower()}")
    return getattr(sys.modules[__name__], name.lower())


def get_model(name, **config):
    return get_model_builder(name)(**config)
