"""Names of torchvision.ops where torchvision has them too."""

from torchvision.ops import *
