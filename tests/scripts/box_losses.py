import torch, torch.nn as nn
from torchvision import ops
from torchvision.ops import (complete_box_iou, complete_box_iou_loss, distance_box_iou, distance_box_iou_loss, generalized_box_iou_loss,
                             masks_to_boxes, DropBlock2d, DropBlock3d, FeaturePyramidNetwork, roi_align, RoIAlign)
from collections import OrderedDict
torch.manual_seed(0)
a = torch.rand(6, 4) * 10; a[:, 2:] += a[:, :2] + 1
b = torch.rand(6, 4) * 10; b[:, 2:] += b[:, :2] + 1
for f in (generalized_box_iou_loss, distance_box_iou_loss, complete_box_iou_loss):
    p = a.clone().requires_grad_()
    l = f(p, b, reduction="mean"); l.backward()
    print(f.__name__, f"{l.item():.5f}", p.grad[:2], f(a, b)[:3], f(a, b, "sum"), f(a[0], b[0]))
    p = nn.Parameter(a.clone()); o = torch.optim.Adam([p], 0.3)
    for i in range(14):
        l = f(p, b, "sum"); o.zero_grad(); l.backward(); o.step()
        if i % 5 == 3: print(i, f"{l.item():.4f}")
try: generalized_box_iou_loss(a, b, "other")
except ValueError as e: print(e)
print(distance_box_iou(a, b)[:2], complete_box_iou(a, b[:3])[:2])
m = torch.zeros(3, 6, 7, dtype=torch.bool); m[0, 1:4, 2:6] = True; m[1, 5, 0] = True
print(masks_to_boxes(m), masks_to_boxes(torch.zeros(0, 3, 3)).shape)
x = torch.randn(2, 3, 12, 10); rois = torch.tensor([[0, 1., 1.5, 7., 9.], [1, 0., 0., 9.5, 11.], [1, 3., 2., 3.2, 2.1], [0, -3., -2., 14., 5.]])
for kw in (dict(output_size=3), dict(output_size=(2, 4), spatial_scale=0.5, sampling_ratio=2), dict(output_size=3, aligned=True), dict(output_size=2, sampling_ratio=3, aligned=True)):
    x.requires_grad_(); x.grad = None; y = roi_align(x, rois, **kw); (y ** 2).sum().backward()
    print(y.shape, y[:, 0, 0], f"{x.grad.abs().sum().item():.4f}")
r = RoIAlign((2, 2), 1.0, -1); print(r, r(x, [rois[:1, 1:], rois[1:3, 1:]])[:, 1])
for D, s in ((DropBlock2d, (2, 3, 8, 8)), (DropBlock3d, (1, 2, 5, 6, 7))):
    d = D(0.3, 3); print(d); z = d(torch.ones(s)); print(f"{z.sum().item():.4f}", (z == 0).sum().item()); d.eval(); print(d(torch.ones(s)).mean().item())
f = FeaturePyramidNetwork([4, 8, 6], 5); o = torch.optim.SGD(f.parameters(), 0.05)
inp = OrderedDict([("a", torch.randn(1, 4, 12, 12)), ("b", torch.randn(1, 8, 6, 6)), ("c", torch.randn(1, 6, 3, 3))])
for i in range(14):
    out = f(inp); l = sum(v.pow(2).mean() for v in out.values()); o.zero_grad(); l.backward(); o.step()
    if i % 5 == 4: print(i, f"{l.item():.5f}")
print([(k, tuple(v.shape)) for k, v in out.items()], sorted(f.state_dict())[:3], ops.Permute([1, 0])(torch.ones(2, 3)).shape)
