"""torchvision.transforms.functional."""

import _missing
import torch
from torch._C import Tensor
from PIL.Image import Image
import numpy as np


def to_tensor(pic):
    if isinstance(pic, Image):
        pic = pic._array
    if not isinstance(pic, np.ndarray):
        raise TypeError(f"pic should be PIL Image or ndarray. Got {type(pic)}")
    if pic.ndim not in (2, 3):
        raise ValueError(f"pic should be 2/3 dimensional. Got {pic.ndim} dimensions.")
    x = pic[:, :, None] if pic.ndim == 2 else pic
    made = torch.from_numpy(x.transpose(2, 0, 1))
    return made.to(torch.float32) / 255 if pic.dtype == np.uint8 else made


def pil_to_tensor(pic):
    x = pic._array
    return torch.from_numpy((x[:, :, None] if x.ndim == 2 else x).transpose(2, 0, 1))


def to_pil_image(pic, mode=None):
    if isinstance(pic, Tensor):
        x = pic.unsqueeze(0) if pic.dim() == 2 else pic
        x = (x * 255).to(torch.uint8) if x.dtype.is_floating_point else x
        x = x.permute(1, 2, 0).numpy()
    else:
        x = pic[:, :, None] if pic.ndim == 2 else pic
    return Image(x[:, :, 0] if x.shape[2] == 1 else x)


def normalize(tensor, mean, std, inplace=False):
    if not isinstance(tensor, Tensor):
        raise TypeError(f"img should be Tensor Image. Got {type(tensor)}")
    if not tensor.dtype.is_floating_point:
        raise TypeError(f"Input tensor should be a float tensor. Got {tensor.dtype}.")
    mean = torch.as_tensor(mean, dtype=tensor.dtype).reshape(-1, 1, 1)
    std = torch.as_tensor(std, dtype=tensor.dtype).reshape(-1, 1, 1)
    if (std == 0).any():
        raise ValueError(f"std evaluated to zero after conversion to {tensor.dtype}, leading to division by zero.")
    made = (tensor - mean) / std
    return tensor.copy_(made) if inplace else made


def _size(img):
    return (img.height, img.width) if isinstance(img, Image) else tuple(img.shape[-2:])


def _on(img, function):
    """A function of tensors [.., rows, columns], also for images."""
    if isinstance(img, Image):
        return to_pil_image(function(pil_to_tensor(img)))
    return function(img)


def get_image_size(img):
    rows, columns = _size(img)
    return [columns, rows]


def crop(img, top, left, height, width):
    def cut(x):
        rows, columns = x.shape[-2:]
        if top < 0 or left < 0 or top + height > rows or left + width > columns:
            x = _padded(x, [max(-left, 0), max(-top, 0), max(left + width - columns, 0), max(top + height - rows, 0)], 0)
        y, z = max(top, 0), max(left, 0)
        return x[..., y:y + height, z:z + width]
    return _on(img, cut)


def center_crop(img, output_size):
    h, w = (output_size, output_size) if isinstance(output_size, int) else output_size[:2] if len(output_size) > 1 else output_size * 2
    rows, columns = _size(img)
    return crop(img, int(round((rows - h) / 2.0)), int(round((columns - w) / 2.0)), h, w)


def _padded(x, sides, fill, mode="constant"):
    left, top, right, bottom = sides
    if mode == "constant":
        shape = list(x.shape)
        shape[-2] += top + bottom
        shape[-1] += left + right
        made = torch.full(shape, fill, dtype=x.dtype)
        made[..., top:top + x.shape[-2], left:left + x.shape[-1]] = x
        return made
    kind = x.dtype
    lead = x.dim() == 3
    y = torch.nn.functional.pad((x.unsqueeze(0) if lead else x).to(torch.float32), [left, right, top, bottom],
                                mode={"edge": "replicate", "reflect": "reflect"}[mode])
    return (y.squeeze(0) if lead else y).to(kind)


def pad(img, padding, fill=0, padding_mode="constant"):
    if isinstance(padding, int):
        sides = [padding] * 4
    else:
        sides = list(padding) * 2 if len(padding) == 2 else list(padding) * 4 if len(padding) == 1 else list(padding)
    return _on(img, lambda x: _padded(x, sides, fill, padding_mode))


def hflip(img):
    return _on(img, lambda x: x.flip(-1))


def vflip(img):
    return _on(img, lambda x: x.flip(-2))


def resize(img, size, interpolation="bilinear", max_size=None, antialias=True):
    rows, columns = _size(img)
    if isinstance(size, int) or len(size) == 1:
        size = size if isinstance(size, int) else size[0]
        short, long = (columns, rows) if columns <= rows else (rows, columns)
        scaled = int(size * long / short)
        size = (scaled, size) if columns <= rows else (size, scaled)
    if tuple(size) == (rows, columns):
        return img
    mode = interpolation.value if hasattr(interpolation, "value") else interpolation
    if mode in ("box", "hamming", "lanczos"):
        raise NotImplementedError(f"resize by {mode}; bicubic is there")

    if isinstance(img, Image):
        # PIL's way: the middle of a pixel decides, and of two passes each rounds.
        x = pil_to_tensor(img)
        if mode in ("nearest", "nearest-exact"):
            for dim, n in ((-2, size[0]), (-1, size[1])):
                step = x.shape[dim] / n
                x = x.index_select(dim, torch.tensor([int((i + 0.5) * step) for i in range(n)]))
            return to_pil_image(x)
        for shape in ((rows, size[1]), tuple(size)):
            y = torch.nn.functional.interpolate(x.unsqueeze(0).to(torch.float32), size=shape, mode=mode, align_corners=False, antialias=True)
            # Ties go up, also those that single precision has a little lower.
            x = (y.squeeze(0) + 0.5001).floor().clamp(0, 255).to(torch.uint8)
        return to_pil_image(x)

    def run(x):
        kind, lead = x.dtype, x.dim() == 3
        y = (x.unsqueeze(0) if lead else x).to(torch.float32)
        if mode in ("bilinear", "bicubic"):
            y = torch.nn.functional.interpolate(y, size=list(size), mode=mode, align_corners=False, antialias=bool(antialias))
        else:
            y = torch.nn.functional.interpolate(y, size=list(size), mode=mode)
        if not kind.is_floating_point:
            y = y.round().clamp(0, 255)
        return (y.squeeze(0) if lead else y).to(kind)
    return _on(img, run)


def rgb_to_grayscale(img, num_output_channels=1):
    def run(x):
        if x.shape[-3] == 1:
            y = x
        else:
            r, g, b = x.unbind(-3)
            y = (0.2989 * r + 0.587 * g + 0.114 * b).to(x.dtype).unsqueeze(-3)
        return y.expand(list(y.shape[:-3]) + [num_output_channels] + list(y.shape[-2:]))
    if isinstance(img, Image):
        grey = img.convert("L")
        return grey.convert("RGB") if num_output_channels == 3 else grey
    return run(img)


to_grayscale = rgb_to_grayscale


def _blend(a, b, ratio):
    bound = 1.0 if a.dtype.is_floating_point else 255.0
    return (a * ratio + b * (1.0 - ratio)).clamp(0, bound).to(a.dtype)


def adjust_brightness(img, brightness_factor):
    return _on(img, lambda x: _blend(x, torch.zeros_like(x), brightness_factor))


def adjust_contrast(img, contrast_factor):
    def run(x):
        grey = rgb_to_grayscale(x) if x.shape[-3] == 3 else x
        mean = grey.to(torch.float32).mean(dim=(-3, -2, -1), keepdim=True)
        return _blend(x, mean, contrast_factor)
    return _on(img, run)


def adjust_saturation(img, saturation_factor):
    return _on(img, lambda x: x if x.shape[-3] == 1 else _blend(x, rgb_to_grayscale(x), saturation_factor))


def gaussian_blur(img, kernel_size, sigma=None):
    sizes = [kernel_size] * 2 if isinstance(kernel_size, int) else list(kernel_size)
    sigma = [0.15 * k + 0.35 for k in sizes] if sigma is None else [sigma] * 2 if isinstance(sigma, (int, float)) else list(sigma)

    def line(n, s):
        at = torch.linspace(-(n - 1) * 0.5, (n - 1) * 0.5, n)
        weights = torch.exp(-0.5 * (at / s).pow(2))
        return weights / weights.sum()

    def run(x):
        kernel = line(sizes[1], sigma[1])[:, None] * line(sizes[0], sigma[0])[None]
        y = x.to(torch.float32).reshape(-1, 1, *x.shape[-2:])
        y = torch.nn.functional.pad(y, [sizes[0] // 2] * 2 + [sizes[1] // 2] * 2, mode="reflect")
        y = torch.nn.functional.conv2d(y, kernel[None, None]).reshape(x.shape)
        return y if x.dtype.is_floating_point else y.round().clamp(0, 255).to(x.dtype)
    return _on(img, run)


def erase(img, i, j, h, w, v, inplace=False):
    made = img if inplace else img.clone()
    made[..., i:i + h, j:j + w] = v
    return made


__getattr__ = _missing.names("torchvision.transforms.functional", globals())
