"""torchvision.transforms: what works on tensors and on images of the data sets. Random ones draw as torchvision does."""

import _missing
import enum
import math
import torch
from torch._C import Tensor
from PIL.Image import Image
from torchvision.transforms import functional, functional as F


class InterpolationMode(enum.Enum):
    NEAREST = "nearest"
    NEAREST_EXACT = "nearest-exact"
    BILINEAR = "bilinear"
    BICUBIC = "bicubic"
    BOX = "box"
    HAMMING = "hamming"
    LANCZOS = "lanczos"


class _Transform(torch.nn.Module):
    def __repr__(self):
        return f"{type(self).__name__}({self._text()})"

    def _text(self):
        return ""


class Compose:
    def __init__(self, transforms):
        self.transforms = transforms

    def __call__(self, img):
        for t in self.transforms:
            img = t(img)
        return img

    def __repr__(self):
        return "Compose(\n" + "".join([f"    {t}\n" for t in self.transforms]) + ")"


class ToTensor:
    def __call__(self, pic):
        return F.to_tensor(pic)

    def __repr__(self):
        return "ToTensor()"


class PILToTensor:
    def __call__(self, pic):
        return F.pil_to_tensor(pic)

    def __repr__(self):
        return "PILToTensor()"


class ToPILImage:
    def __init__(self, mode=None):
        self.mode = mode

    def __call__(self, pic):
        return F.to_pil_image(pic, self.mode)

    def __repr__(self):
        return "ToPILImage()"


class ConvertImageDtype(_Transform):
    def __init__(self, dtype):
        super().__init__()
        self.dtype = dtype

    def forward(self, image):
        if self.dtype.is_floating_point and not image.dtype.is_floating_point:
            return image.to(self.dtype) / 255
        if image.dtype.is_floating_point and not self.dtype.is_floating_point:
            return (image * 255.999).to(self.dtype)
        return image.to(self.dtype)

    def _text(self):
        return ""


class Lambda:
    def __init__(self, lambd):
        if not callable(lambd):
            raise TypeError(f"Argument lambd should be callable, got {type(lambd).__name__!r}")
        self.lambd = lambd

    def __call__(self, img):
        return self.lambd(img)

    def __repr__(self):
        return "Lambda()"


class Normalize(_Transform):
    def __init__(self, mean, std, inplace=False):
        super().__init__()
        self.mean, self.std, self.inplace = mean, std, inplace

    def forward(self, tensor):
        return F.normalize(tensor, self.mean, self.std, self.inplace)

    def _text(self):
        return f"mean={self.mean}, std={self.std}"


class Resize(_Transform):
    def __init__(self, size, interpolation=InterpolationMode.BILINEAR, max_size=None, antialias=True):
        super().__init__()
        self.size, self.interpolation, self.max_size, self.antialias = size, interpolation, max_size, antialias

    def forward(self, img):
        return F.resize(img, self.size, self.interpolation, self.max_size, self.antialias)

    def _text(self):
        mode = self.interpolation.value if hasattr(self.interpolation, "value") else self.interpolation
        return f"size={self.size}, interpolation={mode}, max_size={self.max_size}, antialias={self.antialias}"


class CenterCrop(_Transform):
    def __init__(self, size):
        super().__init__()
        self.size = (size, size) if isinstance(size, int) else tuple(size)

    def forward(self, img):
        return F.center_crop(img, self.size)

    def _text(self):
        return f"size={self.size}"


class Pad(_Transform):
    def __init__(self, padding, fill=0, padding_mode="constant"):
        super().__init__()
        self.padding, self.fill, self.padding_mode = padding, fill, padding_mode

    def forward(self, img):
        return F.pad(img, self.padding, self.fill, self.padding_mode)

    def _text(self):
        return f"padding={self.padding}, fill={self.fill}, padding_mode={self.padding_mode}"


class RandomCrop(_Transform):
    def __init__(self, size, padding=None, pad_if_needed=False, fill=0, padding_mode="constant"):
        super().__init__()
        self.size = (size, size) if isinstance(size, int) else tuple(size)
        self.padding, self.pad_if_needed, self.fill, self.padding_mode = padding, pad_if_needed, fill, padding_mode

    @staticmethod
    def get_params(img, output_size):
        w, h = F.get_image_size(img)
        th, tw = output_size
        if h < th or w < tw:
            raise ValueError(f"Required crop size {(th, tw)} is larger than input image size {(h, w)}")
        if w == tw and h == th:
            return 0, 0, h, w
        i = torch.randint(0, h - th + 1, size=(1,)).item()
        j = torch.randint(0, w - tw + 1, size=(1,)).item()
        return i, j, th, tw

    def forward(self, img):
        if self.padding is not None:
            img = F.pad(img, self.padding, self.fill, self.padding_mode)
        w, h = F.get_image_size(img)
        if self.pad_if_needed and w < self.size[1]:
            img = F.pad(img, [self.size[1] - w, 0], self.fill, self.padding_mode)
        if self.pad_if_needed and h < self.size[0]:
            img = F.pad(img, [0, self.size[0] - h], self.fill, self.padding_mode)
        return F.crop(img, *self.get_params(img, self.size))

    def _text(self):
        return f"size={self.size}, padding={self.padding}"


class _Flip(_Transform):
    def __init__(self, p=0.5):
        super().__init__()
        self.p = p

    def forward(self, img):
        return self._flip(img) if torch.rand(1) < self.p else img

    def _text(self):
        return f"p={self.p}"


class RandomHorizontalFlip(_Flip):
    def _flip(self, img):
        return F.hflip(img)


class RandomVerticalFlip(_Flip):
    def _flip(self, img):
        return F.vflip(img)


class Grayscale(_Transform):
    def __init__(self, num_output_channels=1):
        super().__init__()
        self.num_output_channels = num_output_channels

    def forward(self, img):
        return F.rgb_to_grayscale(img, self.num_output_channels)

    def _text(self):
        return f"num_output_channels={self.num_output_channels}"


class RandomGrayscale(_Flip):
    def __init__(self, p=0.1):
        super().__init__(p)

    def _flip(self, img):
        channels = 3 if isinstance(img, Image) and img.mode == "RGB" or isinstance(img, Tensor) and img.shape[-3] == 3 else 1
        return F.rgb_to_grayscale(img, channels)


class GaussianBlur(_Transform):
    def __init__(self, kernel_size, sigma=(0.1, 2.0)):
        super().__init__()
        self.kernel_size = (kernel_size, kernel_size) if isinstance(kernel_size, int) else tuple(kernel_size)
        self.sigma = (sigma, sigma) if isinstance(sigma, (int, float)) else tuple(sigma)

    def forward(self, img):
        sigma = torch.empty(1).uniform_(self.sigma[0], self.sigma[1]).item()
        return F.gaussian_blur(img, self.kernel_size, [sigma, sigma])

    def _text(self):
        return f"kernel_size={self.kernel_size}, sigma={self.sigma}"


class RandomResizedCrop(_Transform):
    def __init__(self, size, scale=(0.08, 1.0), ratio=(3.0 / 4.0, 4.0 / 3.0), interpolation=InterpolationMode.BILINEAR, antialias=True):
        super().__init__()
        self.size = (size, size) if isinstance(size, int) else tuple(size)
        self.scale, self.ratio, self.interpolation, self.antialias = scale, ratio, interpolation, antialias

    @staticmethod
    def get_params(img, scale, ratio):
        width, height = F.get_image_size(img)
        area = height * width
        logs = torch.log(torch.tensor(ratio))
        for _ in range(10):
            target = area * torch.empty(1).uniform_(scale[0], scale[1]).item()
            aspect = torch.exp(torch.empty(1).uniform_(logs[0].item(), logs[1].item())).item()
            w, h = int(round(math.sqrt(target * aspect))), int(round(math.sqrt(target / aspect)))
            if 0 < w <= width and 0 < h <= height:
                i = torch.randint(0, height - h + 1, size=(1,)).item()
                j = torch.randint(0, width - w + 1, size=(1,)).item()
                return i, j, h, w
        shape = float(width) / float(height)
        if shape < min(ratio):
            w, h = width, int(round(width / min(ratio)))
        elif shape > max(ratio):
            w, h = int(round(height * max(ratio))), height
        else:
            w, h = width, height
        return (height - h) // 2, (width - w) // 2, h, w

    def forward(self, img):
        return F.resize(F.crop(img, *self.get_params(img, self.scale, self.ratio)), self.size, self.interpolation, None, self.antialias)

    def _text(self):
        return (f"size={self.size}, scale={tuple(round(s, 4) for s in self.scale)}, ratio={tuple(round(r, 4) for r in self.ratio)}, "
                f"interpolation={self.interpolation.value}, antialias={self.antialias}")


class RandomApply:
    def __init__(self, transforms, p=0.5):
        self.transforms, self.p = transforms, p

    def __call__(self, img):
        if self.p < torch.rand(1):
            return img
        for t in self.transforms:
            img = t(img)
        return img

    def __repr__(self):
        return f"RandomApply(\n    p={self.p}" + "".join([f"\n    {t}" for t in self.transforms]) + "\n)"


class ColorJitter(_Transform):
    def __init__(self, brightness=0, contrast=0, saturation=0, hue=0):
        super().__init__()
        def bounds(value):
            if isinstance(value, (tuple, list)):
                return tuple(value)
            return None if value == 0 else (max(1 - float(value), 0), 1 + float(value))
        self.brightness, self.contrast, self.saturation = bounds(brightness), bounds(contrast), bounds(saturation)
        self.hue = tuple(hue) if isinstance(hue, (tuple, list)) else (-float(hue), float(hue)) if hue else None

    def forward(self, img):
        order = torch.randperm(4).tolist()
        factors = [None if b is None else float(torch.empty(1).uniform_(b[0], b[1])) for b in (self.brightness, self.contrast, self.saturation, self.hue)]
        adjust = (F.adjust_brightness, F.adjust_contrast, F.adjust_saturation, F.adjust_hue)
        for which in order:
            if factors[which] is not None:
                img = adjust[which](img, factors[which])
        return img

    def _text(self):
        return f"brightness={self.brightness}, contrast={self.contrast}, saturation={self.saturation}, hue={self.hue}"


from torchvision.transforms._augment import *

functional.InterpolationMode = InterpolationMode

__getattr__ = _missing.names("torchvision.transforms", globals())
