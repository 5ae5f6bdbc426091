"""Functions that few scripts call: norms as ATen has them, ranks of rows, bags by positions, places of a known number, whole numbers that wrap."""
import torch
import torch.nn.functional as F

torch.manual_seed(2)


def shown(x):
    return (x.detach().float() * 100000).round().div(100000).add(0.0).tolist()


x, w, b = torch.randn(2, 4, 3, requires_grad=True), torch.rand(4, requires_grad=True), torch.rand(4, requires_grad=True)
for made in (torch.native_layer_norm(x, [4, 3], None, None, 1e-5), torch.native_group_norm(x, w, b, 2, 4, 3, 2, 1e-5),
             torch.native_batch_norm(x, w, b, None, None, True, 0.1, 1e-5),
             torch.native_batch_norm(x, w, b, torch.zeros(4), torch.ones(4), False, 0.1, 1e-5)):
    print([(tuple(m.shape), m.requires_grad, shown(m)) for m in made])
    print([None if g is None else shown(g) for g in torch.autograd.grad((made[0] * torch.arange(24.0).reshape(2, 4, 3)).sum(), (x, w, b), allow_unused=True)])
mean, var = torch.zeros(4), torch.ones(4)
torch.native_batch_norm(x, w, b, mean, var, True, 0.5, 1e-5)
print(shown(mean), shown(var), [m.dtype for m in torch.native_layer_norm(x.bfloat16(), [3], None, None, 1e-5)])

for t in (torch.tensor([0, 3, 0, 5]), torch.eye(2), torch.zeros(2, 0), torch.tensor(4)):
    print(torch.nonzero_static(t, size=3).tolist(), t.nonzero_static(size=1, fill_value=7).tolist(), tuple(t.nonzero_static(size=0).shape))
print(torch.tensor(4).nonzero(as_tuple=True), torch.tensor(0).nonzero(as_tuple=True), torch.tensor(4).nonzero())

rows = torch.tensor([[3.0, 1.0, 2.0, 5.0], [float("nan"), 4.0, 0.0, 1.0], [float("nan")] * 4])
q = torch.tensor([0.2, 0.5, 0.9], requires_grad=True)
for kind in ("linear", "lower", "higher", "nearest", "midpoint"):
    for f in (torch.quantile, torch.nanquantile):
        print(kind, shown(f(rows, q, dim=1, interpolation=kind)), shown(f(rows, 0.4, dim=0, keepdim=True, interpolation=kind)))
print(shown(torch.autograd.grad(torch.nanquantile(rows[:2], q, dim=1).sum(), q)[0]), torch.quantile(rows[0], q, keepdim=True).shape)
print(torch.quantile(torch.tensor(2.0), 0.3, dim=0), torch.nanquantile(torch.tensor(2.0), q.detach(), dim=-1, keepdim=True))
for arguments in ((rows, 1.5), (rows, torch.tensor([2.0])), (rows.long(), 0.5), (rows, q.double()), (torch.zeros(0), 0.5)):
    try:
        torch.quantile(*arguments)
    except RuntimeError as e:
        print(e)

mean = torch.arange(3.0).requires_grad_()
drawn = torch.normal(mean, 2.0)
print(torch.autograd.grad(drawn.sum(), mean), torch.normal(mean.bfloat16(), 1.0).dtype, drawn.requires_grad)
half = torch.ones(2, 3, 4, 4, dtype=torch.bfloat16)
print([f(half, 0.5, True).dtype for f in (F.dropout, F.dropout2d, F.dropout3d, F.alpha_dropout, F.feature_alpha_dropout)])

table = torch.arange(8.0).reshape(4, 2)
at = torch.tensor([[0, 2], [3, 3]])
print(F.embedding_bag(at, table, mode="sum"), F.embedding_bag(table, at, mode="max"))
print(F.linear_cross_entropy(table, torch.ones(3, 2).cumsum(0), torch.tensor([0, 2, 1, 1]), linear_bias=torch.arange(3.0), label_smoothing=0.1))
picture = torch.arange(32, dtype=torch.uint8).reshape(1, 2, 4, 4)
for mode in ("nearest", "bilinear"):
    print(F.interpolate(picture, size=(3, 6), mode=mode).tolist())
print(F.max_pool2d(picture, 2, return_indices=True)[1].dtype)
print([t.tolist() for t in torch.unravel_index(torch.tensor([5, 7], dtype=torch.uint8), (3, 4))])
print(torch.unique(torch.zeros(3, 0, 2), dim=1).shape, torch.unique_consecutive(torch.zeros(0, 2), dim=0, return_counts=True))
print(torch.where(torch.tensor([1, 0], dtype=torch.uint8), 1.0, 2.0), torch.tensordot(torch.ones(1, 2, dtype=torch.uint8), torch.ones(2, 3, dtype=torch.uint8), 1))
print(torch.stft(torch.ones(20, dtype=torch.float64), 8, return_complex=False, window=torch.ones(8, dtype=torch.float64)).dtype)

# Whole numbers are exact, and wrap in place too.
n = torch.tensor([2, 3, -7, 9, 0, -1, 1])
print((n ** torch.tensor([30, 19, 10, 9, 0, 101, 4000])).tolist(), (n ** 5).tolist(), (n[:4] ** torch.tensor([0, 1, 2, 3])).tolist())
print((torch.tensor([2, -3, 1, -1, -1]) ** torch.tensor([-1, -2, -5, -3, -4])).tolist(), torch.pow(3, torch.tensor([0, 1, 18])).tolist())
byte = torch.tensor([200, 3], dtype=torch.uint8)
byte += 100
print(byte.tolist(), byte.sub_(150).tolist(), byte.square_().tolist(), byte.pow_(3).tolist(), torch.tensor([100, -3], dtype=torch.int8).mul_(2).tolist())
