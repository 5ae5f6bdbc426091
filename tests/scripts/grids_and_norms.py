"""Grids that meet the elements they sample, types of norms, and shapes as sizes."""
import torch
import torch.nn.functional as F

torch.manual_seed(0)
theta = torch.tensor([[[1.0, 0, 0], [0, 1, 0]]], requires_grad=True)
for align in (False, True):
    for mode in ("border", "zeros", "reflection"):
        grid = F.affine_grid(theta, (1, 1, 8, 28), align_corners=align)
        x = torch.rand(1, 1, 8, 28, requires_grad=True)
        weight = torch.rand(1, 1, 8, 28)
        (F.grid_sample(x, grid, padding_mode=mode, align_corners=align) * weight).sum().backward()
        print(align, mode, theta.grad, x.grad.sum())
        theta.grad = None
for n in (1, 2, 3, 5, 7, 28, 64, 100, 224):
    for align in (True, False):
        places = F.affine_grid(theta.detach(), (1, 1, n, 3), align_corners=align)[0, :, 0, 1]
        print(n, align, [v.hex() for v in places.tolist()[:9]])
for width in (28, 7, 100, 33):
    grid = F.affine_grid(torch.eye(2, 3)[None], (1, 1, 4, width), align_corners=False).requires_grad_()
    squares = (torch.arange(width).float() ** 2).expand(4, width)[None, None]
    F.grid_sample(squares, grid, padding_mode="border", align_corners=False).sum().backward()
    print((grid.grad[0, 1, :, 0] / (width / 2)).tolist())

x, w, c = torch.randn(2, 4, 3), torch.randn(3), torch.randn(4)
norms = (lambda x: F.layer_norm(x, (3,), w, w), lambda x: F.rms_norm(x, (3,), w), lambda x: F.group_norm(x, 2, c, c),
         lambda x: F.batch_norm(x, torch.zeros(4), torch.ones(4), c, c), lambda x: F.instance_norm(x, None, None, c, c))
for norm in norms:
    for kind in (torch.float16, torch.bfloat16, torch.float32):
        y = norm(x.to(kind))
        print(y.dtype, y.float().sum().round(decimals=1))
print(F.kl_div(torch.tensor(0.5), torch.tensor([0.5, 0.5, 0.5]), reduction="batchmean"))

size = torch.zeros(2, 3, 4).shape
for kind in (torch.Tensor, torch.FloatTensor, torch.LongTensor, torch.BoolTensor):
    print(kind(size).shape, kind(size[1:]).shape, kind(2, 3).shape, kind((2, 3)).shape, kind([1, 2]).shape)
print((5,) + size, size * 2, 2 * size, size + (1,), type((5,) + size).__name__)
try:
    size + [1]
except TypeError as e:
    print(e)
print(2.0 ** -25, 2.0 ** -24, 1 / 3, 5e-324, 2.0 ** 60)
