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
