# What PyTorch's own unit tests found missing or other.
import warnings
import torch
from torch import nn
from torch.autograd import gradgradcheck
from torch.optim.optimizer import register_optimizer_step_post_hook, register_optimizer_step_pre_hook


def attempt(f):
    try:
        print(f())
    except Exception as e:
        print(type(e).__name__, str(e)[:130])


# Indexes: truth values join the other lists, and what is written may have leading ones.
x = torch.arange(12.).reshape(3, 4)
print(x[True].shape, x[False].shape, x[True, None, 0].shape, x[torch.tensor(False)].shape, x[True, True].shape, x[False, True, ...].shape)
print(x[True, [0, 1], True, [1]])
y = torch.zeros(4, 4)
y[torch.tensor([1, 2]), :] = torch.ones(1, 1, 4)
y[:, [0, 1]] = torch.arange(8.).reshape(1, 4, 2)
y[[0, 1], :, None] = torch.ones(1, 1, 2, 4, 1) * 9
y[y > 8] = torch.zeros(1, 1, 1)
y[torch.tensor(True), 0] = 5.0
print(y)
attempt(lambda: x[[0, 1], [0, 1, 2]])
attempt(lambda: y.__setitem__([0, 1], torch.ones(3, 4)))
g = torch.rand(4, requires_grad=True)
(g[True] * torch.arange(4.)).sum().backward()
print(g.grad)

# One pass backward from several results that share a part.
a = torch.tensor([1., 2., 3.], requires_grad=True)
shared = a.exp()
torch.autograd.backward([shared.sum(), (shared * 2)], [None, torch.tensor([1., 0., 1.])])
print(a.grad)
attempt(lambda: torch.autograd.backward([a.exp(), a.sum()]))
print(gradgradcheck(lambda t: (t ** 3).sin(), torch.tensor([0.3, -0.7], dtype=torch.float64, requires_grad=True)))


# The mode of differentiation inside of a generator alone.
@torch.no_grad()
def generator():
    sent = yield torch.is_grad_enabled()
    while sent is not None:
        sent = yield torch.is_grad_enabled(), sent


gen = generator()
print(next(gen), torch.is_grad_enabled(), gen.send(3), torch.is_grad_enabled(), list(gen))

# Hooks after a gradient has come may write the parameter.
p = nn.Parameter(torch.ones(2))
p.register_post_accumulate_grad_hook(lambda t: t.sub_(t.grad))
(p * 3).sum().backward()
print(p.data)

# Types of results, numbers among them.
for one, other in ((1, 2.), (1., torch.ones(2)), (1., torch.ones(2, dtype=torch.int32)), (torch.tensor(1.), torch.ones(2, dtype=torch.float16)),
                   (True, True), (2, torch.ones(2, dtype=torch.bool)), (1j, torch.ones(2)), (torch.ones(3), torch.ones(2).long())):
    print(torch.result_type(one, other), end=" ")
print(torch.randint(high=3, size=(2,)).shape, torch.asarray([1, 2], dtype=torch.float32), torch.asarray(x, copy=True) is x)
base = torch.arange(10.)
print(torch.tensor(()).set_(base, storage_offset=1, size=(3,), stride=(2,)), base[2:]._is_view(), base._is_view())
c = torch.complex(torch.ones(2), torch.zeros(2))
c.imag = torch.tensor([2., 3.])
print(c, torch.median(x, 1, out=(torch.empty(3), torch.empty(3).long())).values,
      torch.nanmedian(x, 0, out=(torch.empty(4), torch.empty(4).long())).indices)

# Optimizers: hooks of all of them, state of other keys, doubled parameters, rates as tensors.
w = nn.Parameter(torch.ones(2))
w.grad = torch.ones(2)
handles = [register_optimizer_step_pre_hook(lambda o, a, k: print("before", type(o).__name__)),
           register_optimizer_step_post_hook(lambda o, a, k: print("after", type(o).__name__))]
opt = torch.optim.SGD([w], lr=0.1)
opt.step()
[h.remove() for h in handles]
opt.step()
print(w.data)
opt.state["test"] = 1
print(opt.state_dict()["state"])
with warnings.catch_warnings(record=True) as seen:
    warnings.simplefilter("always")
    torch.optim.SGD([w, w])
print([str(s.message)[:60] for s in seen])
attempt(lambda: torch.optim.SGD([{"params": {w}}]))
lr = torch.tensor(0.5)
opt = torch.optim.SGD([w], lr=lr)
schedule = torch.optim.lr_scheduler.ConstantLR(opt)
lr.mul_(0.1)
print(schedule.base_lrs, opt.param_groups[0]["initial_lr"])

# Results into tensors of a lesser type, and other arguments that are refused.
d, none = torch.ones(2, 2), torch.tensor((), dtype=torch.long)
print(d.scatter(0, none, d), d.clone().scatter_(0, none, 2., reduce="multiply"), torch.sum(torch.ones(2), 0, out=torch.ones((), dtype=torch.long)))
attempt(lambda: torch.add(torch.ones(2), 1.5, out=torch.ones(2, dtype=torch.int32)))
attempt(lambda: torch.div(torch.ones(2), 2, out=torch.ones(2, dtype=torch.long)))
attempt(lambda: torch.take_along_dim(x, torch.tensor([1, 3]), 0))
attempt(lambda: torch.take_along_dim(x, torch.tensor([[1., 0.]]), 0))
attempt(lambda: torch.take_along_dim(x, torch.tensor([[1, 0]]), 7))
attempt(lambda: torch.ones(2).H)
attempt(lambda: torch.ones(2).mT)
attempt(lambda: torch.ones(2, 3, 4).H)
attempt(lambda: torch.frombuffer(bytearray(b"abcd"), dtype=torch.int32, offset=5))
attempt(lambda: torch.frombuffer(bytearray(b"abcdefgh"), dtype=torch.int32, count=0))
attempt(lambda: torch.frombuffer(bytearray(b"abcdefgh"), dtype=torch.int32, count=5))
attempt(lambda: torch.frombuffer([1], dtype=torch.int32))
print(torch.are_deterministic_algorithms_enabled(), torch.is_deterministic_algorithms_warn_only_enabled(), torch.tensor([0.2, 1.]).hardshrink(),
      torch.isposinf(torch.ones(2), out=torch.ones(2, dtype=torch.bool)), torch.std(torch.arange(4.), 0, out=torch.ones(())),
      torch.tensor(0.5).unfold(0, 1, 1), torch.tensor(0.5).unfold(0, 0, 2))
attempt(lambda: torch.optim.Adam([w], lr=torch.tensor([0.1, 0.2])))
print([kind.is_signed for kind in (torch.bool, torch.uint8, torch.int8, torch.float32, torch.complex64)])
