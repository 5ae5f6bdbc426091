import torch
from torch import nn
from einops import rearrange, reduce, repeat, einsum, pack, unpack, parse_shape
from einops.layers.torch import Rearrange, Reduce

x = torch.arange(24.0).reshape(2, 3, 4)
print(rearrange(x, "b c d -> b (c d)"), rearrange(x, "b c d -> d b c").shape, rearrange(x, "b c (h w) -> b h w c", h=2)[0])
print(rearrange(x, "b ... -> (...) b").shape, rearrange(x, "b c d -> b c d 1").shape, rearrange(x, "b c d -> () b c d").shape)
print(rearrange([x[0], x[1]], "n c d -> c (n d)").shape, rearrange(x, "... d -> d ...").shape)
print(reduce(x, "b c d -> b c", "mean"), reduce(x, "b c d -> c", "sum"), reduce(x, "b c d -> b 1 1", "max"), reduce(x, "b c (k d) -> b c k", "min", k=2)[0])
print(reduce(x, "... d -> ...", "sum"), reduce(x[:, :, :2], "b c d -> b", "prod"))
print(repeat(x[0, 0], "d -> n d", n=2), repeat(x[0, 0], "d -> (d k)", k=2), repeat(torch.ones(1, 3), "() d -> b d", b=2).shape)
print(einsum(x, x, "b i d, b j d -> b i j").shape, einsum(x, "b c d -> b"))
packed, shapes = pack([x, torch.ones(2, 5, 1, 4)], "b * d")
print(packed.shape, shapes, [t.shape for t in unpack(packed, shapes, "b * d")])
print(parse_shape(x, "b _ d"))
images = torch.randn(2, 3, 8, 8, generator=torch.Generator().manual_seed(0))
patch = Rearrange("b c (h p1) (w p2) -> b (h w) (p1 p2 c)", p1=4, p2=4)
print(patch, Reduce("b c h w -> b c", "mean"))
net = nn.Sequential(patch, nn.Flatten(), Rearrange("b (n d) -> b n d", n=2), Reduce("b n d -> b n", "max"))
print(net(images), patch(images).shape)
print(Reduce("b ... -> (b s) ...", "repeat", s=2)(x).shape, reduce(x, "b c d -> d (b c)", "rearrange").shape)
q = torch.randn(2, 5, 12, requires_grad=True)
heads = rearrange(q, "b n (h d) -> b h n d", h=3)
rearrange(heads, "b h n d -> b n (h d)").sum().backward()
print(heads.shape, q.grad.sum().item())
for bad in (lambda: rearrange(x, "b c -> c b"), lambda: rearrange(x, "b c (h w) -> b c h w"), lambda: rearrange(x, "b c d -> b c"),
            lambda: rearrange(x, "b c (h w) -> b c h w", h=3), lambda: reduce(x, "b c d -> b c", "middle")):
    try:
        bad()
    except Exception as error:
        print(type(error).__name__)
