import os
import tempfile

import numpy as np
import torch
from PIL import Image
from torch.utils.data import DataLoader
from torchvision import datasets, transforms
from torchvision.transforms import functional as TF

torch.manual_seed(0)
rng = np.random.RandomState(0)
root = os.path.join(tempfile.gettempdir(), "image_folder_data")
for split in ("train", "val"):
    for k, name in enumerate(("cats", "dogs")):
        folder = os.path.join(root, split, name)
        os.makedirs(folder, exist_ok=True)
        for i in range(3):
            pixels = rng.randint(0, 128, (10, 12, 3)).astype(np.uint8)
            pixels[..., k] += 100
            Image.fromarray(pixels).save(os.path.join(folder, f"{i}.png"))
data = datasets.ImageFolder(os.path.join(root, "train"), transform=transforms.Compose([transforms.Resize((8, 8)), transforms.ToTensor()]))
print(len(data), data.classes, data.class_to_idx, data.targets, [os.path.basename(p) for p, _ in data.imgs])
for x, y in DataLoader(data, batch_size=4, shuffle=True):
    print(x.shape, y, round(x.mean().item(), 4))
try:
    datasets.ImageFolder(os.path.join(root, "train", "cats"))
except FileNotFoundError as e:
    print("FileNotFoundError", str(e)[:40])
img = Image.open(os.path.join(root, "train", "cats", "0.png"))
print(img.size, img.mode, img.format, img.width, img.height, img.getbands(), img.getpixel((3, 4)), np.array(img).shape, np.asarray(img)[0, 0])
grey = img.convert("L")
print(grey.mode, grey.getpixel((0, 0)), np.array(grey).mean().round(3))
new = Image.new("RGB", (4, 3), (255, 0, 10))
new.putpixel((1, 2), (1, 2, 3))
print(new.size, np.array(new)[2], Image.new("L", (2, 2), 7).getpixel((1, 1)))
new.paste(Image.new("RGB", (2, 2), (9, 9, 9)), (1, 0))
print(np.array(new)[:, :, 0])
print(np.array(img.crop((1, 2, 4, 5))).shape, np.array(img.transpose(Image.FLIP_LEFT_RIGHT))[0, 0], np.array(img.transpose(Image.ROTATE_90)).shape)
print(np.array(img.resize((6, 5), Image.NEAREST))[0, 0], img.resize((6, 5)).size, [b.mode for b in img.split()])
print(TF.to_tensor(img).shape, TF.to_tensor(grey).shape, TF.to_pil_image(torch.zeros(3, 4, 5)).size)
x = torch.rand(3, 9, 9)
print(TF.gaussian_blur(x, [3, 3])[0, 0, :3], TF.gaussian_blur(x, 5, 1.5).mean())
print(transforms.GaussianBlur(3, sigma=(0.1, 2.0))(x)[1, 2, :2], transforms.GaussianBlur(3))
with Image.open(os.path.join(root, "val", "dogs", "1.png")) as im:
    print(im.convert("RGB").resize((4, 4), Image.BILINEAR).size)
with open(os.path.join(root, "note.txt"), "w") as f:
    f.write("no image")
try:
    Image.open(os.path.join(root, "note.txt"))
except OSError as e:
    print(type(e).__name__)
