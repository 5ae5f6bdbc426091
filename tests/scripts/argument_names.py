"""Arguments by PyTorch's names, hooks and states of optimizers and schedules, files that have other names here."""

import collections
import io

import torch
import torch.backends.cudnn as cudnn
import torch.nn as nn
import torch.nn.functional as F
from torch.autograd.variable import Variable
from torch.distributions.utils import broadcast_all, lazy_property, logits_to_probs
from torch.optim.adam import Adam
from torch.optim.lr_scheduler import CosineAnnealingLR, LambdaLR, LinearLR, SequentialLR
from torch.testing import assert_close
from torch.utils.hooks import RemovableHandle

torch.manual_seed(0)
cudnn.benchmark = True
x = torch.arange(12.0).view(3, 4)

# Methods and functions by keyword.
print([part.shape for part in x.split(split_size=2, dim=1)], x.swapaxes(axis0=0, axis1=1).shape, x.moveaxis(source=0, destination=1).shape)
print(x.new_zeros(size=(2,)), x.new_full(size=(2,), fill_value=3.0, pin_memory=False), torch.arange(3, pin_memory=False), x.view(size=(4, 3)).shape)
print(torch.gather(x, 1, torch.tensor([[1], [0], [2]]), sparse_grad=False), torch.nansum(x, dtype=torch.float64).dtype, x.clone().transpose_(dim0=0, dim1=1).shape)
print(torch.empty(3).random_(**{"from": 2, "to": 3}), torch.zeros(2, 2).fill_diagonal_(fill_value=5), torch.einsum(x, [0, 1], x, [2, 1], [0, 2]))
print(F.ctc_loss(torch.zeros(4, 1, 3).log_softmax(2), torch.tensor([[1, 2]]), torch.tensor([4]), torch.tensor([2])))
print(nn.CrossEntropyLoss()(input=x, target=torch.tensor([0, 1, 2])), nn.TripletMarginLoss()(anchor=x, positive=x + 1, negative=x - 1))
print(F.mse_loss(x, x + 1, weight=x), F.avg_pool2d(x[None], 2, divisor_override=3), nn.AdaptiveMaxPool1d(2, return_indices=True)(x))
print(nn.AvgPool2d(2, divisor_override=3)(x[None]), nn.Upsample(scale_factor=(2, 1)), F.max_pool1d_with_indices(x, 2)[1])
print(F.softmax(x.view(1, 3, 4))[0, 0], nn.Softmax()(x)[0])
print(nn.Embedding.from_pretrained(x, max_norm=1.0), nn.EmbeddingBag.from_pretrained(x, mode="sum")(torch.tensor([[0, 1]])))
for module in (nn.BatchNorm1d(2), nn.LayerNorm(2), nn.PReLU(), nn.Bilinear(1, 1, 1), nn.Linear(1, 1)):
    module.reset_parameters()
    print(type(module))
print(isinstance(x, torch.FloatTensor), isinstance(x, torch.LongTensor), torch.FloatTensor([1, 2]), Variable(x).shape)

# Hooks and states.
p = nn.Parameter(torch.ones(2))
opt = Adam([p], lr=0.1)
handle = opt.register_step_post_hook(lambda o, args, kwargs: print("stepped", type(o).__name__))
schedule = SequentialLR(opt, [LinearLR(opt, 0.1, total_iters=3), CosineAnnealingLR(opt, T_max=7)], milestones=[3])
for step in range(5):
    p.sum().backward()
    opt.step()
    schedule.step()
handle.remove()
saved = io.BytesIO()
torch.save(schedule.state_dict(), saved)
saved.seek(0)
state = torch.load(saved, weights_only=False)
print(list(state), [list(s) for s in state["_schedulers"]], state["last_epoch"])
fresh = SequentialLR(opt, [LinearLR(opt, 0.1, total_iters=3), CosineAnnealingLR(opt, T_max=7)], milestones=[3])
fresh.load_state_dict(state)
print(fresh.last_epoch, fresh._schedulers[1].last_epoch, isinstance(handle, RemovableHandle))
for attempt in (
    lambda: torch.optim.SGD([{"params": [p]}, {"params": [p]}], lr=0.1),
    lambda: opt.load_state_dict({"state": {}, "param_groups": []}),
    lambda: LambdaLR(opt, [lambda e: 1, lambda e: 2]),
):
    try:
        attempt()
    except ValueError as e:
        print(e)
named = torch.optim.SGD(nn.Linear(1, 1).named_parameters(), lr=0.1)
print(named.param_groups[0]["param_names"])

# Modules.
net = nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2))
old = collections.OrderedDict((k, v) for k, v in net.state_dict().items() if "num_batches" not in k)
print(net.load_state_dict(old), net.state_dict().keys())
try:
    net.load_state_dict({})
except RuntimeError as e:
    print(e)
net.set_submodule("0", nn.Identity())
print(net, next(iter(nn.ParameterDict({"a": torch.ones(1)}).items()))[0])


class Own(torch.Tensor):
    pass


print(torch.ones(2, 2).as_subclass(Own), x.view(-1).data_ptr() == x.data_ptr(), x[1:].data_ptr() - x.data_ptr(), x[1:]._base is x)
print(broadcast_all(1.0, torch.zeros(2)), logits_to_probs(torch.zeros(2)), lazy_property(lambda self: 1).__class__.__name__)

# Comparisons.
for actual, expected in (({"k": x}, {"k": x + 1}), ([x, x], [x]), ({"a": x}, {"b": x}), (1.0, 1.1), (1, 2), (x.long(), x.long() + 1),
                         (x > 1, x > 2), (x, [1.0]), (None, x)):
    try:
        assert_close(actual, expected)
    except (AssertionError, TypeError) as e:
        print(type(e).__name__, e)

# What the tape says.
a = torch.ones(2, requires_grad=True)
for made in (1 - a, 1 / a, 2**a, a**a, a.max(0)[0], a.sum(0), a.double(), F.pad(a, (1, 1))):
    print(made.grad_fn.name(), type(made.grad_fn).__name__, end=" ")
node = (a * 2).relu().grad_fn
print(node.name(), node.next_functions[0][0].name(), node.next_functions[0][0].next_functions[0][0].variable is a)

# NumPy's names.
m = torch.tensor([[1.0, 5.0, 2.0], [4.0, 3.0, 6.0]])
for name in ("max", "min", "median", "mode", "std", "var", "nansum", "nanmean", "count_nonzero", "std_mean", "sort", "softmax"):
    print(name, getattr(torch, name)(m, axis=1))
for name in ("max", "min", "median", "std", "var", "nansum", "aminmax"):
    print(name, getattr(torch, name)(m, dim=1, keepdims=True), hasattr(m, name) and getattr(m, name)(axis=0, keepdims=True))
print(m.quantile(0.5, axis=1, keepdims=True), m.topk(1, axis=0)[0], torch.add(m, x2=m), torch.maximum(x1=m, x2=-m), torch.sum(a=m, axis=0))
