"""The part of torchvision that training scripts use."""

from torchvision import datasets, models, ops, transforms, utils

__version__ = "0.29.2"
