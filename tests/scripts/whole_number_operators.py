# Operators of whole numbers whose factors, ends or weights have fractions, and powers that f32 does not hold.
import torch


def show(name, made):
    print(name, str(made.dtype)[6:], list(made.shape), [round(v, 4) if isinstance(v, float) else v for v in made.reshape(-1).tolist()])


a, b = torch.tensor([[1, 2], [3, 4]]), torch.tensor([[5, -6, 7], [8, 9, -1]])
v, u = torch.tensor([2, -1]), torch.tensor([3, 1, -2])
show("addmv", torch.addmv(v, a, v, beta=0.2, alpha=1.6))
show("addmv", torch.tensor([1]).addmv(a, v, beta=2.9, alpha=0.6))
show("addbmm", torch.addbmm(b, a.expand(3, 2, 2), b.expand(3, 2, 3), beta=0.6, alpha=2.2))
show("addbmm_", b.clone().addbmm_(a.expand(3, 2, 2), b.expand(3, 2, 3), beta=0.6, alpha=0.2))
show("addbmm_ of one", torch.tensor(0.5).addbmm_(a.float().expand(3, 2, 2), b.float().expand(3, 2, 3)))
show("addr", torch.addr(b, v, u, beta=2, alpha=-3))
t, f = torch.tensor([True, False]), torch.tensor([[False, True], [True, False]])
show("addr of bool", torch.addr(f, t, t))
show("addr of bool", torch.addr(f, t, t, beta=0, alpha=2))
nan = torch.full((2, 3), float("nan"))
show("none of the input", torch.addr(nan, v.float(), u.float(), beta=0))
show("none of the input", torch.addmv(nan[:, 0], a.float(), v.float(), beta=0))
show("none of the input", torch.addbmm(nan, torch.ones(2, 2, 0), torch.ones(2, 0, 3), beta=0.0))
try:
    torch.addr(b, v, u, alpha=0.5)
except RuntimeError as e:
    print(e)

for kind in (torch.int64, torch.int32):
    show("arange", torch.arange(0.1, -7.9, -4.0, dtype=kind))
    show("arange", torch.arange(1.9, 8.2, 2.5, dtype=kind))
for ends in ((4.3, 50, 9), (4.9, -3.7, 6), (2.5, 9.9, 1)):
    show("linspace", torch.linspace(*ends, dtype=torch.int64))
    show("logspace", torch.logspace(ends[0], ends[1] / 9, ends[2], base=1.5, dtype=torch.int64))
show("logspace", torch.logspace(0, 3, 4, base=-2.0, dtype=torch.int32))

p = torch.tensor([-7, 3, -1, 0, 1, 2])
show("pow", p ** torch.tensor([[9], [5], [0], [300]])[:3])
show("pow", torch.tensor([0, 1, -1]) ** torch.tensor([[256], [301], [-3]])[:2])
show("pow", torch.tensor([1, -1, 2]) ** torch.tensor([-2, -3, -1]))
show("pow", p ** 11)
show("pow", 3 ** torch.arange(0, 19, 6))
show("pow", torch.tensor([250, 7, 3], dtype=torch.uint8) ** torch.tensor([3, 9, 255], dtype=torch.uint8))
show("rpow", p.__rpow__(torch.tensor([2, 3, 4, 5, 6, 7])[:, None].abs() * 0 + 3)[:, 3:])
show("rdiv", torch.tensor([2, 4]).__rdiv__(torch.tensor([1, 3])))

points = torch.tensor([[1, 2, 4], [3, 1, 0]])
show("cov", torch.cov(points))
show("cov", torch.cov(points, fweights=torch.tensor([1, 2, 1])))
show("cov", torch.cov(points, correction=0, aweights=torch.tensor([0.5, 1.5, 1.0])))
show("corrcoef", torch.corrcoef(points))
show("bincount", torch.bincount(torch.tensor([1, 2, 1]), torch.tensor([1, 2, 3]), minlength=5))
show("bincount", torch.tensor([1, 2, 1]).bincount(torch.tensor([0.5, 2, 3])))
for g in torch.gradient(torch.tensor([[1, 4, 9], [2, 8, 1], [0, 3, 5]]), spacing=[2.0, 2.5]):
    show("gradient", g)
show("i0", torch.i0(torch.tensor([True, False])))
for made in torch.histogram(torch.zeros(0), 2), torch.histogramdd(torch.zeros(0, 1), [2]):
    print(made.hist.tolist(), [e.tolist() for e in (made.bin_edges if isinstance(made.bin_edges, tuple) else [made.bin_edges])])
show("all", torch.tensor([[3, 0], [1, 2]], dtype=torch.uint8).all(1))
show("any", torch.any(torch.tensor([[3, 0], [0, 0]], dtype=torch.uint8)))
show("clamp", torch.clamp(torch.tensor([3, 9], dtype=torch.uint8), max=torch.tensor([5, 5], dtype=torch.int32)))
show("full_like", torch.full_like(torch.zeros(2, dtype=torch.uint8), -9))
show("gather", torch.gather(torch.ones(5), 0, torch.zeros(2, 0, dtype=torch.int64)))
show("pad", torch.constant_pad_nd(torch.tensor([True, False]), (1, 2), True))
try:
    torch.full((2,), 300, dtype=torch.uint8)
except RuntimeError as e:
    print(e)
for made in torch.atleast_1d([torch.tensor(1), torch.tensor([2])]), torch.atleast_2d((torch.tensor(1),)), torch.atleast_3d(torch.tensor(3), torch.ones(2)):
    print([list(m.shape) for m in made])

n = torch.tensor([100, 3], dtype=torch.uint8)
show("add_", n.add_(200))
show("sub_", n.sub_(torch.tensor([50, 4], dtype=torch.uint8)))
show("bitwise_not_", n.bitwise_not_())
show("mul_", torch.tensor([100, -3], dtype=torch.int8).mul_(3))
show("index_add_", n.index_add_(0, torch.tensor([0, 0]), n.clone(), alpha=-1))
q = torch.div(torch.tensor([3.71875, 6.4375, -0.53515625], dtype=torch.bfloat16), torch.tensor([-0.62109375, -0.038330078125, 0.041259765625], dtype=torch.bfloat16), rounding_mode="trunc")
show("div", q)
h = torch.tensor([2047.0, 1.0], dtype=torch.float16).div_(torch.tensor([2048.0, 3.0], dtype=torch.float16), rounding_mode="trunc")
show("div_", h)
