"""Augmentations of images: turned, sheared, erased and recoloured."""

import random

import torch
import torchvision.transforms as T
import torchvision.transforms.functional as TF
from PIL import Image

torch.manual_seed(0)
random.seed(0)
x = torch.rand(3, 12, 10)
u = (x * 255).to(torch.uint8)
for transform in (
    T.RandomRotation(15),
    T.RandomRotation((0, 90), interpolation=T.InterpolationMode.BILINEAR, fill=0.5),
    T.RandomAffine(10, (0.1, 0.1), (0.9, 1.1), 5),
    T.RandomErasing(p=1.0),
    T.RandomErasing(p=1.0, value="random"),
    T.ColorJitter(0.4, 0.4, 0.4, 0.1),
    T.RandomChoice([T.CenterCrop(6), T.Pad(1)]),
    T.RandomApply([T.ColorJitter(hue=0.2)], p=0.8),
    T.FiveCrop(5),
    T.RandomInvert(1.0),
    T.RandomSolarize(0.5, p=1.0),
    T.RandomAutocontrast(1.0),
    T.RandomAdjustSharpness(2.0, p=1.0),
):
    made = transform(x)
    made = made if torch.is_tensor(made) else torch.stack(list(made))
    print(transform, tuple(made.shape), f"{made.mean().item():.5f} {made.std().item():.5f}")
print(TF.rotate(u, 30).float().mean(), TF.affine(u, 10, [1, 2], 1.2, [3.0]).float().mean(), TF.adjust_hue(x, 0.3)[:, 0, 0])
print(TF.invert(u).float().mean(), TF.posterize(u, 3).float().mean(), TF.solarize(u, 128).float().mean(), TF.adjust_gamma(x, 2.0).mean())
print([c.shape for c in TF.five_crop(x, 4)][:2], TF.resized_crop(x, 1, 1, 6, 6, [4, 4]).mean(), TF.get_dimensions(x))
image = Image.fromarray(u.permute(1, 2, 0).numpy())
print(TF.invert(image).getpixel((0, 0)), TF.rotate(image, 20).size)
