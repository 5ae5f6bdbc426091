"""torchvision.transforms.v2: the transforms under their own names, and what takes the place of `ToTensor`."""

from torch import Tensor
from torchvision.transforms import *
from torchvision.transforms import ConvertImageDtype, functional


class ToImage:
    def __call__(self, pic):
        return pic if isinstance(pic, Tensor) else functional.pil_to_tensor(pic)

    def __repr__(self):
        return "ToImage()"


class ToDtype:
    def __init__(self, dtype, scale=False):
        self.dtype, self.scale = dtype, scale

    def __call__(self, image):
        return ConvertImageDtype(self.dtype)(image) if self.scale else image.to(self.dtype)

    def __repr__(self):
        return f"ToDtype(scale={self.scale})"
