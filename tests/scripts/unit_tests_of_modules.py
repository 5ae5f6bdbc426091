# What PyTorch's own unit tests of hooks, lazy modules, pruning, embeddings and derivatives of functions found missing or other.
import copy
import pickle
import warnings
from collections import namedtuple
import numpy as np
import scipy
import torch
import torch.nn.functional as F
from torch import nn
from torch.autograd import functional
from torch.nn.utils import parametrize, prune, rnn
from torch.nn.utils.parametrizations import weight_norm

inf, nan = float("inf"), float("nan")
torch.manual_seed(0)


def attempt(f):
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        try:
            print(f())
        except Exception as e:
            print(type(e).__name__, str(e)[:110])
    for w in seen:
        print(w.category.__name__, str(w.message)[:90])


# Hooks lie in tables of their own.
m = nn.Linear(2, 2)
a = m.register_forward_hook(lambda *args: print("after", len(args)), with_kwargs=True, always_call=True)
b = m.register_forward_pre_hook(lambda module, args: print("before"), prepend=True)
print(list(m._forward_hooks) == [a.id] == list(m._forward_hooks_with_kwargs) == list(m._forward_hooks_always_called), callable(m._forward_pre_hooks[b.id]))
attempt(lambda: m(torch.ones(3)))
a.remove(), b.remove()
print(len(m._forward_hooks_always_called), b.id in b.hooks_dict_ref())
every = nn.modules.module.register_module_full_backward_hook(lambda module, into, out: print(type(module).__name__, [g is None for g in into], out[0].shape))
m(torch.ones(1, 2, requires_grad=True)).sum().backward()
every.remove()
Pair = namedtuple("Pair", "a b")


class Two(nn.Module):
    def forward(self, x):
        return Pair(x * 2, x * 3)


m = Two()
m.register_full_backward_pre_hook(lambda module, out: (out[0] * 0,) + out[1:])
x = torch.ones(2, requires_grad=True)
y = m(x)
(y.a + y.b).sum().backward()
print(type(y).__name__, x.grad)
bad = m.register_full_backward_hook(lambda module, into, out: into + into)
attempt(lambda: m(x).a.sum().backward())
m = nn.Linear(2, 1)
m.register_state_dict_post_hook(lambda module, state, prefix, local: state)
attempt(m.state_dict)
m = nn.Linear(1, 1)
m._register_state_dict_hook(lambda module, state, prefix, local: {"other": 1})
print(m.state_dict())
m = nn.Linear(1, 1)
torch.__future__.set_overwrite_module_params_on_conversion(True)
before = m.weight
m.half()
print(m.weight is before, m.weight.dtype)
torch.__future__.set_overwrite_module_params_on_conversion(False)
m = nn.Linear(2, 2)._apply(lambda t: t * 0)
print(m.weight.abs().sum().item())

# Modules that wait for their first input.
net = nn.Sequential(nn.LazyLinear(3), nn.LazyBatchNorm1d())
print(net[0].weight, net[0].has_uninitialized_params(), type(pickle.loads(pickle.dumps(net[0])).bias).__name__, type(copy.deepcopy(net[0]).weight).__name__, type(net[1].running_mean).__name__)
try:
    net[0].weight + 1
except ValueError as e:
    print(str(e)[:46])
attempt(lambda: nn.Linear(2, 3).load_state_dict(net[0].state_dict()))
net[0].load_state_dict(nn.Linear(4, 3).state_dict())
print(net[0].weight.shape, type(net[0]).__name__, net(torch.ones(2, 4)).shape, type(net[0]).__name__, type(net[1].weight).__name__, net[0].in_features)


class Own(nn.modules.lazy.LazyModuleMixin, nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = nn.parameter.UninitializedParameter()

    def initialize_parameters(self, x):
        if self.has_uninitialized_params():
            self.scale.materialize(x.shape[-1:])
            nn.init.ones_(self.scale)

    def forward(self, x):
        return x * self.scale


print(Own()(torch.arange(3.)).detach())

# Pruning.
m = nn.Conv2d(2, 2, 2)
prune.l1_unstructured(m, "weight", amount=0.25)
prune.ln_structured(m, "weight", 0.5, 2, 0)
hook = next(iter(m._forward_pre_hooks.values()))
print(type(hook).__name__, len(hook), type(hook[0]).__name__, hook._tensor_name, int((m.weight != 0).sum()) <= 8)
method = prune.L1Unstructured(amount=2)
method._tensor_name = "other"
attempt(lambda: hook.add_pruning_method(method))
attempt(lambda: prune.ln_structured(nn.Linear(2, 2), "bias", 1, 2, 0))
attempt(lambda: prune.global_unstructured([(nn.Linear(2, 2), "weight")], prune.LnStructured, amount=1, n=2))
m = nn.Linear(2, 2)
attempt(lambda: prune.l1_unstructured(m, "weight", amount=5))
print([n for n, _ in m.named_parameters()])

# Embeddings.
w = torch.arange(8.).reshape(4, 2).requires_grad_()
i = torch.tensor([0, 1, 1, 3])
for mode in ("sum", "mean", "max"):
    w.grad = None
    made = F.embedding_bag(i, w, torch.tensor([0, 0, 3, 4]), mode=mode, padding_idx=0, include_last_offset=True)
    made.sum().backward()
    print(made.detach(), w.grad)
F.embedding_bag(torch.tensor([], dtype=torch.long), w, torch.tensor([0, 0])).sum().backward()
e = nn.Embedding(4, 2, scale_grad_by_freq=True)
e(i).sum().backward()
print(e.weight.grad, nn.EmbeddingBag(3, 2, norm_type=1., scale_grad_by_freq=True, padding_idx=1))
print(F.embedding(i, torch.ones(4, 2, dtype=torch.int8)).dtype)
for f in (lambda: F.embedding_bag(i, w, torch.tensor([1])), lambda: F.embedding_bag(i, w, torch.tensor([0, 9])), lambda: F.embedding_bag(i, w),
          lambda: F.embedding_bag(i, w, torch.tensor([0]), per_sample_weights=torch.ones(4)), lambda: F.embedding_bag(i, w, i[:1], padding_idx=7),
          lambda: F.embedding_bag(i, w, i[:1], mode="sum", per_sample_weights=torch.ones(4).half()), lambda: F.embedding(i, w[0]),
          lambda: nn.Embedding(3, 2, padding_idx=3), lambda: F.dropout3d(torch.ones(2, 2), 0.0).shape, lambda: F.dropout1d(torch.ones(2)),
          lambda: rnn.pack_padded_sequence(torch.ones(0, 0), []), lambda: rnn.pad_sequence(5), lambda: nn.init.calculate_gain("leaky_relu", "x"),
          lambda: torch.fliplr(torch.ones(2)), lambda: torch.nonzero(i, out=torch.ones(1)), lambda: nn.Linear(1, 1, device="meta").load_state_dict(m.state_dict(), strict=False)):
    attempt(f)
print(rnn.pack_sequence([torch.ones(2)]).half().data.dtype)

# Parametrized modules, and what older ones saved.
m, old = weight_norm(nn.Linear(2, 2)), torch.nn.utils.weight_norm(nn.Linear(2, 2))
print(m.load_state_dict(old.state_dict()), torch.allclose(m.weight, old.weight))
attempt(lambda: pickle.dumps(m))

# Derivatives of functions.
x = torch.tensor([1., 2.], requires_grad=True)
print(functional.hessian(lambda t: (t ** 3).sum().view(1), x), functional.jacobian(lambda t: t.prod(), x, create_graph=True).sum().grad_fn is not None)
with torch.no_grad():
    value, made = functional.vhp(lambda a, b: (a * b * b).sum(), (x, x + 1), (torch.ones(2), torch.ones(2)), create_graph=True)
print(value.requires_grad, made[1].detach())
print(functional.jvp(lambda t: (t.exp(), t * 2), x.detach(), torch.ones(2)), functional.vjp(lambda t: t * t, x.detach(), torch.ones(2)))
for f in (lambda: functional.jacobian(lambda t: t.detach(), x, strict=True), lambda: functional.hvp(lambda t: t.sum(), x, x, strict=True),
          lambda: functional.vjp(lambda t: t * 2, x), lambda: functional.hessian(lambda t: t, x), lambda: functional.jacobian(lambda t: t, (x, 2)),
          lambda: functional.jvp(lambda t: t, x, torch.ones(3))):
    attempt(f)
print(torch.autograd.gradcheck(lambda t: (t * 2, t.exp()), (x.detach().double().requires_grad_(),)))


# What stands beside a tensor may answer, and other small things.
class Other:
    def __radd__(self, left):
        return "radd"


y = torch.ones(2)
y += Other()
print(y)
half, out = torch.ones(2).half(), torch.empty(3)
print(torch.tensor([half[0], half[1]]).dtype, torch.tensor([half[0], 1]).dtype, torch.zeros(1, dtype=float).dtype)
print(torch.fmax(torch.tensor([1., nan, 3.]), torch.tensor([2., 2., nan]), out=out), out, torch.unique(torch.tensor([nan, 1., nan])).shape)
z = torch.zeros(7, 3)
z.fill_diagonal_(1., wrap=True)
z.expand(7, 3).add_(1)
print(z.sum(1))
y = torch.zeros(2)
copy.copy(y).fill_(1)
print(y, torch.igamma(torch.tensor([0., inf, 1.]), torch.tensor([0., 1., inf])))
print(np.logaddexp(np.array([inf, -inf]), np.array([inf, -inf])), np.copysign(2., -0.), np.nan_to_num(np.array([inf], dtype=np.float32)), scipy.special.expit(0.))
