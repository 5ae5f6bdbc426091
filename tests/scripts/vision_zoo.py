# Models of torchvision with its initial weights, trained a few steps; names that packages import and that are refused when called.
import torch
import torch.nn.functional as F
from torchvision.models import (
    EfficientNet_B0_Weights, VisionTransformer, convnext_tiny, efficientnet_b0, efficientnet_v2_s, get_model, list_models,
    mobilenet_v3_large, mobilenet_v3_small,
)
from torchvision.models.convnext import CNBlockConfig, ConvNeXt
from torchvision.models.efficientnet import EfficientNet, FusedMBConvConfig, MBConvConfig
from torchvision.ops import stochastic_depth


def told(model):
    weights = list(model.parameters())
    print(type(model).__name__, sum(p.numel() for p in weights), f"{sum(p.detach().abs().sum() for p in weights):.1f}", len(model.state_dict()),
          len(repr(model)), list(model.state_dict())[-3:])


def train(model, size):
    torch.manual_seed(1)
    told(model)
    step = torch.optim.SGD(model.parameters(), lr=1e-3)
    for turn in range(2):
        loss = F.cross_entropy(model(torch.randn(3, 3, size, size)), torch.randint(0, 5, (3,)))
        step.zero_grad()
        loss.backward()
        step.step()
        print(turn, f"{loss.item():.4f}")
    model.eval()
    with torch.no_grad():
        print(f"{model(torch.randn(2, 3, size, size)).abs().sum():.3f}")


torch.manual_seed(0)
train(VisionTransformer(32, 8, 2, 2, 32, 48, dropout=0.1, attention_dropout=0.1, num_classes=5, representation_size=16), 32)
train(ConvNeXt([CNBlockConfig(8, 16, 2), CNBlockConfig(16, None, 2)], stochastic_depth_prob=0.2, num_classes=5), 32)
train(EfficientNet([FusedMBConvConfig(1, 3, 1, 8, 8, 1), FusedMBConvConfig(4, 3, 2, 8, 16, 1), MBConvConfig(4, 3, 2, 16, 24, 2)], dropout=0.2,
                   num_classes=5, last_channel=32), 32)
told(mobilenet_v3_small(num_classes=5))
told(mobilenet_v3_large(num_classes=3, reduced_tail=True, dilated=True, width_mult=0.5))
told(get_model("efficientnet_b0", num_classes=3))
for call in (lambda: torch.onnx.export(None, (), "x"), lambda: torch.export.export(None, ())):
    try:
        call()
    except Exception as error:
        print("refused")
print(EfficientNet_B0_Weights.DEFAULT is not None, {"vit_b_16", "resnet18", "convnext_base"} <= set(list_models()))
for call in (lambda: stochastic_depth(torch.ones(2, 2), 1.5, "row"), lambda: stochastic_depth(torch.ones(2, 2), 0.5, "column"),
             lambda: get_model("resnet19"), lambda: VisionTransformer(30, 8, 1, 2, 32, 48)):
    try:
        call()
    except (ValueError, AssertionError) as error:
        print(type(error).__name__, error)
