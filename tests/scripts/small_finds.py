"""What examples of PyTorch's and einops' documentation show, and few scripts use."""
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint
from torch.utils.data import DataLoader, IterableDataset
from einops.layers.torch import EinMix

nan = float("nan")
a = torch.tensor([[2.0, 3, 1], [nan, 1, nan], [4, 4, 0]], requires_grad=True)
b = a.detach()
print(b.median(0), b.median(1, keepdim=True), torch.median(b), torch.median(torch.tensor([3, 1, 2, 9])), torch.median(torch.tensor([3.0, nan])), sep="\n")
a.median(1).values.nansum().backward()
print(a.grad, str(torch.manual_seed(0)).split(" at ")[0])


class Numbers(IterableDataset):
    def __init__(self, start, end):
        super(Numbers).__init__()
        self.start, self.end = start, end

    def __iter__(self):
        return iter(range(self.start, self.end))


print(list(DataLoader(Numbers(3, 7), num_workers=0)))
for pattern, shape, bias, axes in (("t b c -> t b d", "c d", "d", dict(c=4, d=3)), ("b (h w) c -> b c (h k)", "w k", "k", dict(h=2, w=3, k=5)),
                                   ("... c -> ... d", "c d", None, dict(c=4, d=2)), ("b t (g c) -> b t (g d)", "g c d", "g d", dict(g=2, c=2, d=3))):
    layer = EinMix(pattern, shape, bias, **axes)
    x = torch.randn(2, 6, 4)
    made = layer(x)
    made.square().sum().backward()
    print(layer, tuple(made.shape), [tuple(p.shape) for p in layer.parameters()], layer.weight.grad.abs().sum(), made.detach().sum())
for pattern, shape, bias in (("a b -> a c", "b c", None), ("a b -> a d", "b c", None)):
    try:
        EinMix(pattern, shape, bias, b=2)
    except Exception as error:
        print(type(error).__name__, error)


@checkpoint(use_reentrant=False)
def region(x):
    return x.sin().cos()


x = torch.ones(3, requires_grad=True)
region(x).sum().backward()
print(x.grad, torch.masked._ops.sum(torch.ones(2, 3), 1, mask=torch.tensor([True, False, True])))

# Complex numbers in floats, orders of dimensions, and sparse tensors of dense parts.
x = torch.arange(16.0).reshape(4, 4)
z = x.view(torch.cfloat)
z[0, 0] = 9 - 1j
print(z[:2], x[0], z.view(torch.float32).shape, z.view(torch.int32).shape)
print(torch.empty_permuted((2, 3, 5, 7), (0, 2, 3, 1)).dim_order(), torch.zeros(2, 3, 5, 7).transpose(1, 2).dim_order(),
      torch.zeros(1, 2, 3, 4).dim_order(ambiguity_check=[torch.contiguous_format, torch.channels_last]), torch.empty_permuted((2, 3, 5), (2, 0, 1)).stride())
d = torch.tensor([[0, 0, 0], [9, 0, 10], [0, 0, 0]])
print(d.to_sparse(1), d.to_sparse(layout=torch.sparse_csr).layout, torch.equal(d.to_sparse(1).to_dense(), d), torch.equal(d.to_sparse(dense_dim=1).to_dense(), d))
for call in (lambda: torch.zeros(1, 2).dim_order(ambiguity_check=True), lambda: torch.zeros(2).dim_order(ambiguity_check="x"), lambda: d.to_sparse(layout=torch.sparse_csr, blocksize=(3, 1)),
             lambda: torch.zeros(3, 3).view(torch.cfloat)):
    try:
        print(call())
    except Exception as error:
        print(type(error).__name__, error)

for sparse in (torch.eye(30).to_sparse(), torch.eye(30).to_sparse_csr(), torch.eye(3, dtype=torch.float16).to_sparse(), torch.eye(3, dtype=torch.float16).to_sparse_csr(),
               torch.arange(80.0).reshape(40, 2).to_sparse(1), torch.zeros(3, 3).to_sparse(), torch.zeros(3, 3).to_sparse_csr(), torch.eye(2).to_sparse().requires_grad_()):
    print(sparse)

import contextvars

var = contextvars.ContextVar("var", default=1)
token = var.set(2)
context = contextvars.copy_context()


def change():
    var.set(3)
    return var.get()


print(context.run(change), var.get(), context[var], len(context), var in context, contextvars.Context().run(var.get), token.old_value is contextvars.Token.MISSING)
var.reset(token)
print(var.get(), repr(token).startswith("<Token used var=<ContextVar name='var' default=1 at 0x"), contextvars.ContextVar[int].__args__)
try:
    var.reset(token)
except RuntimeError as error:
    print(str(error).split(" at ")[0], "has already been used once" in str(error))
