import torch
import torchvision
from torch import nn
from torchvision import ops
from torchvision.ops import Conv2dNormActivation, box_iou, nms
from torchvision.ops.boxes import batched_nms, clip_boxes_to_image, remove_small_boxes

torch.manual_seed(0)
boxes = torch.tensor([[0.0, 0, 10, 10], [1, 1, 11, 11], [20, 20, 30, 32], [0, 0, 9, 10], [19, 22, 31, 30]])
scores = torch.tensor([0.9, 0.8, 0.7, 0.95, 0.6])
print(box_iou(boxes[:2], boxes))
print(ops.generalized_box_iou(boxes[:2], boxes[2:]))
print(nms(boxes, scores, 0.5), batched_nms(boxes, scores, torch.tensor([0, 1, 0, 1, 0]), 0.5))
print(clip_boxes_to_image(boxes - 3, (20, 25)), remove_small_boxes(boxes, 11), ops.box_area(boxes))
print(ops.box_convert(boxes, "xyxy", "cxcywh")[:2], ops.box_convert(boxes, "xyxy", "xywh")[2])
print(ops.sigmoid_focal_loss(torch.randn(3, 2), torch.ones(3, 2), reduction="mean"))
block = Conv2dNormActivation(3, 8, kernel_size=3, stride=2, activation_layer=nn.ReLU6)
print(block, block(torch.randn(2, 3, 8, 8)).shape)
se = ops.SqueezeExcitation(8, 2)
print(se(torch.ones(1, 8, 2, 2)).sum())
print(ops.StochasticDepth(0.5, "row")(torch.ones(4, 2)))
print(ops.FrozenBatchNorm2d(3), ops.FrozenBatchNorm2d(3)(torch.ones(1, 3, 1, 1)).flatten())
print(ops.MLP(4, [8, 2], norm_layer=nn.LayerNorm))

# Boxes on the levels of a pyramid, largest elements of their parts, and channels that belong to places.
from collections import OrderedDict
from torchvision.ops import MultiScaleRoIAlign, RoIPool, ps_roi_align, roi_pool

torch.manual_seed(0)
x = torch.randn(2, 8, 16, 16, requires_grad=True)
parts = [torch.tensor([[0.0, 0.0, 10.0, 12.0], [3.5, 2.0, 40.0, 30.0]]), torch.tensor([[8.0, 8.0, 20.0, 31.0]])]
for name, call in (("largest", lambda: roi_pool(x, parts, (3, 2), 0.5)), ("module", lambda: RoIPool(2, 0.25)(x, parts)),
                   ("places", lambda: ps_roi_align(x, parts, (2, 2), 0.5, 2))):
    x.grad = None
    y = call()
    (y * torch.arange(y.numel()).reshape(y.shape)).sum().backward()
    print(name, tuple(y.shape), f"{y.sum().item():.4f} {x.grad.abs().sum().item():.3f}")
pyramid = MultiScaleRoIAlign(["a", "b"], 3, 2)
levels = OrderedDict(a=torch.randn(2, 5, 64, 64), b=torch.randn(2, 5, 32, 32), c=torch.randn(2, 5, 8, 8))
boxes = [torch.tensor([[3.0, 4.0, 60.0, 50.0], [90.0, 10.0, 230.0, 200.0]]), torch.tensor([[0.0, 0.0, 250.0, 250.0], [5.0, 5.0, 9.0, 9.0]])]
y = pyramid(levels, boxes, [(256, 256), (240, 200)])
print(pyramid, tuple(y.shape), f"{y.sum().item():.4f}", pyramid.scales)
