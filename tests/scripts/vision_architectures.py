"""torchvision's smaller architectures, in small: names, shapes, initial values and a step of training."""

import torch
from torch import nn
from torchvision import models
from torchvision.models.densenet import DenseNet
from torchvision.models.squeezenet import Fire

torch.manual_seed(0)
x, y = torch.randn(2, 3, 32, 32), torch.tensor([0, 2])
for make in (lambda: models.MobileNetV2(num_classes=3, width_mult=0.1, round_nearest=4, inverted_residual_setting=[[1, 16, 1, 1], [6, 24, 2, 2]]),
             lambda: DenseNet(4, (2, 2), 8, num_classes=3), lambda: DenseNet(4, (2, 1), 8, num_classes=3, memory_efficient=True),
             lambda: nn.Sequential(Fire(3, 2, 4, 4), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8, 3))):
    torch.manual_seed(1)
    model = make()
    print(type(model).__name__, sum(p.numel() for p in model.parameters()), list(model.state_dict())[:3], list(model.state_dict())[-2:])
    optimizer = torch.optim.SGD(model.parameters(), 0.05)
    for _ in range(3):
        loss = nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(f"{loss.item():.4f}")
    model.eval()
    with torch.no_grad():
        print(model(x).shape)
print(models.MobileNetV2(width_mult=0.1).features[1], models.mobilenet_v2.__name__, models.squeezenet1_1.__name__)
try:
    models.SqueezeNet("2_0")
except ValueError as error:
    print(error)
