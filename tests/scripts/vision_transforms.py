import numpy as np
import torch
from torch.utils.data import DataLoader
import torchvision
from torchvision import datasets, transforms
from torchvision.transforms import functional as F
from torchvision.utils import make_grid, save_image

torch.manual_seed(0)
pipeline = transforms.Compose([transforms.Resize(12), transforms.RandomCrop(8, padding=2), transforms.RandomHorizontalFlip(), transforms.ToTensor(),
                               transforms.Normalize((0.5, 0.4, 0.3), (0.2, 0.2, 0.2))])
print(pipeline)
image = np.arange(6 * 8 * 3, dtype=np.uint8).reshape(6, 8, 3)
x = transforms.ToTensor()(image)
print(x.shape, x.dtype, x[:, 0, :3], transforms.ToTensor()(np.zeros((2, 2), dtype=np.float32)).dtype)
pil = transforms.ToPILImage()(x)
print(pil.size, pil.mode, pil.convert("L").mode, transforms.ToTensor()(pil.convert("L")).shape)
print(torch.equal(transforms.PILToTensor()(pil), torch.from_numpy(image).permute(2, 0, 1)))
print(F.normalize(x, [0.5] * 3, [0.5] * 3)[0, 0], F.hflip(x)[0, 0, :3], F.vflip(x)[0, 0, :3], F.center_crop(x, 4).shape, F.crop(x, 1, 2, 3, 4)[0])
for t in (transforms.Pad(2), transforms.Pad((1, 2), fill=1), transforms.CenterCrop(10), transforms.RandomCrop(4), transforms.RandomHorizontalFlip(p=1.0),
          transforms.RandomVerticalFlip(), transforms.Grayscale(), transforms.RandomGrayscale(p=1.0), transforms.RandomResizedCrop(5, scale=(0.5, 1.0)),
          transforms.Resize((3, 4)), transforms.Resize(9), transforms.ConvertImageDtype(torch.float64), transforms.ColorJitter(0.2, 0.2, 0.2),
          transforms.Resize(3, interpolation=transforms.InterpolationMode.NEAREST)):
    y = t(x)
    print(t, tuple(y.shape), f"{y.mean().item():.4f}")
print(transforms.Lambda(lambda t: t * 2)(x).max(), transforms.RandomApply([transforms.Lambda(lambda t: t - 1)], p=0.3)(x).mean())

data = datasets.FakeData(size=10, image_size=(3, 8, 8), num_classes=3, transform=pipeline)
images, labels = next(iter(DataLoader(data, batch_size=5)))
print(len(data), images.shape, labels)
plain = datasets.FakeData(size=4, image_size=(1, 4, 4), transform=transforms.ToTensor())
print(plain[1][0].shape, plain[1][1], plain[0][0].sum())
grid = make_grid(torch.rand(5, 1, 4, 4), nrow=3, padding=1, normalize=True)
print(grid.shape, grid[:, 0, 0], make_grid([torch.ones(3, 2, 2)] * 2, pad_value=0.5).shape)
try:
    F.normalize(x, [0.5] * 3, [0.0] * 3)
except ValueError as error:
    print(error)
try:
    datasets.MNIST("nowhere", train=True, download=False)
except RuntimeError as error:
    print(str(error)[:18])

model = torchvision.models.resnet18(num_classes=4)
print(sum(p.numel() for p in model.parameters()), list(model.state_dict())[:3], model.layer2[0].downsample)
print(model(torch.randn(2, 3, 32, 32)).shape)
model.eval()
print([f"{v:.3f}" for v in model(torch.ones(1, 3, 32, 32))[0].tolist()])
