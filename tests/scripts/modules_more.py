import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(0)
x1, x2, x3 = torch.randn(2, 4, 6), torch.randn(2, 4, 6, 6), torch.randn(1, 2, 4, 4, 4)
for pad in (nn.ZeroPad1d(1), nn.ConstantPad1d((1, 2), 3.5), nn.ReflectionPad1d(2), nn.ReplicationPad1d(1), nn.CircularPad1d(1)):
    print(pad, pad(x1).shape, pad(x1).sum().item())
for pad in (nn.ZeroPad2d((1, 0, 2, 1)), nn.ConstantPad2d(1, 2.0), nn.ReflectionPad2d(1), nn.ReplicationPad2d(1), nn.CircularPad2d(2)):
    print(pad, pad(x2).shape, pad(x2).sum().item())
for module in (nn.AdaptiveAvgPool3d(2), nn.AdaptiveMaxPool3d(2), nn.LPPool2d(2, 2), nn.LPPool1d(2, 3), nn.Hardshrink(), nn.Softshrink(0.3),
               nn.Softmax2d(), nn.ChannelShuffle(2), nn.LocalResponseNorm(2), nn.UpsamplingNearest2d(scale_factor=2),
               nn.UpsamplingBilinear2d(size=(4, 5)), nn.InstanceNorm1d(4), nn.InstanceNorm2d(4, affine=True),
               nn.InstanceNorm2d(4, track_running_stats=True), nn.BatchNorm3d(2), nn.Dropout(0.5, inplace=True), nn.PReLU(4)):
    x = x3 if "3d" in type(module).__name__ else x1 if "1d" in type(module).__name__ else x2
    y = module(x.clone())
    print(module, tuple(y.shape), f"{y.sum().item():.3f} {y.abs().max().item():.4f}")
norm = nn.InstanceNorm2d(4, track_running_stats=True)
norm(x2)
norm.eval()
print(norm.running_mean, norm.running_var, norm(x2).sum().item())
pooled, places = F.max_pool2d(x2, 2, return_indices=True)
print(nn.MaxUnpool2d(2)(pooled, places)[0, 0])

bag = nn.EmbeddingBag(10, 3, mode="mean")
print(bag, bag(torch.tensor([1, 2, 4, 5, 4, 3]), torch.tensor([0, 2])).detach())
print(nn.EmbeddingBag(10, 3, mode="sum")(torch.tensor([[1, 2], [3, 3]])).detach())
print(nn.Embedding(5, 2, padding_idx=-1), nn.Embedding(5, 4, max_norm=1.0)(torch.tensor([0, 3])).norm(dim=1).detach())
print(nn.Bilinear(2, 3, 4)(torch.randn(5, 2), torch.randn(5, 3)).shape)

a, p, n = torch.randn(4, 6), torch.randn(4, 6), torch.randn(4, 6)
t = torch.tensor([1, 0, 3, 5])
print(nn.TripletMarginLoss(margin=0.5)(a, p, n).item(), nn.TripletMarginWithDistanceLoss()(a, p, n).item())
print(nn.MultiMarginLoss()(a, t).item(), nn.MultiLabelSoftMarginLoss()(a, (p > 0).float()).item())
print(nn.MultiLabelMarginLoss()(a[:1], torch.tensor([[3, 0, -1, 1, 2, 4]])).item())
scores = torch.randn(12, 2, 5).log_softmax(2)
print(nn.CTCLoss()(scores, torch.randint(1, 5, (2, 4)), torch.tensor([12, 10]), torch.tensor([4, 3])).item())

half = nn.Sequential(nn.Linear(4, 3, dtype=torch.bfloat16), nn.LayerNorm(3, dtype=torch.bfloat16))
print([p.dtype for p in half.parameters()], nn.Conv2d(1, 2, 3, dtype=torch.float16).weight.dtype, nn.BatchNorm1d(2, dtype=torch.float64).running_mean.dtype)
print(nn.MultiheadAttention(4, 2, dtype=torch.bfloat16).in_proj_weight.dtype, nn.LSTM(2, 3, dtype=torch.float64).bias_hh_l0.dtype)

lazy = nn.Sequential(nn.LazyConv2d(3, 3), nn.LazyBatchNorm2d(), nn.Flatten(), nn.LazyLinear(2))
optimizer = torch.optim.SGD(lazy.parameters(), lr=0.1)
y = lazy(x2)
print(lazy)
print(y.shape, sum(p.numel() for p in lazy.parameters()))
y.sum().backward()
optimizer.step()
print(lazy[3].weight.shape, lazy(x2).sum().item())
print(nn.DataParallel(nn.Linear(2, 2)).module)

torch.manual_seed(9)
normed = nn.utils.weight_norm(nn.Conv1d(2, 3, 2))
print([(n, tuple(p.shape)) for n, p in normed.named_parameters()])
w = torch.randn(1, 2, 5)
out = normed(w)
out.square().sum().backward()
print(normed.weight_g.grad.flatten(), normed.weight_v.grad.abs().sum().item())
nn.utils.remove_weight_norm(normed)
print(torch.allclose(normed(w), out), [n for n, _ in normed.named_parameters()])
