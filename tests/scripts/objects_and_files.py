"""Objects that are their own attributes, classes of parametrized modules, hooks on every module, schedules by epochs, and modules by the
names of PyTorch's files."""

import copy
import enum
import functools
import json
import warnings
import numpy as np
import torch
import torch.utils.benchmark as benchmark
from torch import nn
from torch.nn.common_types import _size_2_t
from torch.nn.modules.module import register_module_forward_hook, register_module_forward_pre_hook
from torch.nn.utils import parametrize
from torch.nn.utils.clip_grad import clip_grad_norm_
from torch.nn.utils.parametrizations import orthogonal, weight_norm
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn
from torch.types import Number
from torch.utils.data import DistributedSampler
from torch.utils.model_zoo import load_url


class AttrDict(dict):
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.__dict__ = self


class DotDict(dict):
    __getattr__ = dict.get
    __setattr__ = dict.__setitem__
    __delattr__ = dict.__delitem__


config = AttrDict({"lr": 1e-3, "layers": 2})
config.lr = 0.1
config["new"] = 3
print(config, config.new, config.lr, config.__dict__ == dict(config), json.dumps(config))
del config.new
print("new" in config, copy.deepcopy(config), type(copy.copy(config)).__name__, copy.copy(config).layers)
dots = DotDict(a=1)
dots.b = 2
print(dots.a, dots.b, dots.c, dots)
del dots.a
print(dots)
try:
    config.__dict__ = 3
except TypeError as error:
    print(error)


class Act(enum.Enum):
    RELU = functools.partial(torch.relu)
    NAME = "name"
    GELU = enum.auto()


print(Act.GELU, Act.GELU.value, [a.name for a in Act])


class Symmetric(nn.Module):
    def forward(self, x):
        return x.triu() + x.triu(1).mT

    def right_inverse(self, x):
        return x.triu()


torch.manual_seed(0)
layer = nn.Linear(3, 3)
parametrize.register_parametrization(layer, "weight", Symmetric())
print(layer, type(layer).__name__, isinstance(layer, nn.Linear), parametrize.type_before_parametrizations(layer).__name__)
with parametrize.cached():
    print(layer.weight is layer.weight)
print(layer.weight is layer.weight, torch.equal(copy.deepcopy(layer).weight, layer.weight))
parametrize.remove_parametrizations(layer, "weight")
print(type(layer).__name__, weight_norm(nn.Linear(2, 2)))
for shape in ((4, 2), (2, 4), (3, 3)):
    for kind in ("matrix_exp", "cayley", "householder"):
        made = orthogonal(nn.Linear(*shape, bias=False), orthogonal_map=kind)
        weight = made.weight if shape[1] >= shape[0] else made.weight.T
        print(shape, kind, torch.allclose(weight.T @ weight, torch.eye(shape[0] if shape[1] >= shape[0] else shape[1]), atol=1e-5))
made = orthogonal(nn.Linear(4, 2))
optimizer = torch.optim.SGD(made.parameters(), 0.5)
for _ in range(3):
    loss = (made(torch.ones(1, 4)) - 1.0).square().sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(torch.allclose(made.weight @ made.weight.T, torch.eye(2), atol=1e-5))


class First(nn.Module):
    def forward(self, x):
        return x[0]


for name, module in (("weight", First()), ("nope", Symmetric())):
    try:
        parametrize.register_parametrization(nn.Linear(2, 2), name, module)
    except ValueError as error:
        print(error)

with register_module_forward_hook(lambda m, x, y: print("after", type(m).__name__)):
    handle = register_module_forward_pre_hook(lambda m, x: print("before", type(m).__name__))
    nn.Sequential(nn.Linear(1, 1), nn.ReLU())(torch.ones(1, 1))
    handle.remove()
nn.ReLU()(torch.ones(1))

with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    for make in (lambda o: torch.optim.lr_scheduler.StepLR(o, 2, 0.5), lambda o: torch.optim.lr_scheduler.MultiStepLR(o, [1, 3]),
                 lambda o: torch.optim.lr_scheduler.ExponentialLR(o, 0.9), lambda o: torch.optim.lr_scheduler.CosineAnnealingLR(o, 5),
                 lambda o: torch.optim.lr_scheduler.LinearLR(o, 0.1, 1.0, 4), lambda o: torch.optim.lr_scheduler.PolynomialLR(o, 4, 2.0)):
        optimizer = torch.optim.SGD(layer.parameters(), 0.1)
        scheduler = make(optimizer)
        rates = []
        for epoch in (1, 3, 2, 6):
            scheduler.step(epoch)
            rates.append(f"{scheduler.get_last_lr()[0]:.5f}")
        optimizer.step()
        scheduler.step()
        print(type(scheduler).__name__, rates, f"{optimizer.param_groups[0]['lr']:.5f}", optimizer.state_dict()["state"])
    print(sorted({str(w.message)[:60] for w in caught}))
for bad in (lambda: torch.optim.lr_scheduler.OneCycleLR(optimizer, 0.1), lambda: torch.optim.lr_scheduler.OneCycleLR(optimizer, 0.1, -1),
            lambda: torch.optim.lr_scheduler.OneCycleLR(torch.optim.Adagrad(layer.parameters()), 0.1, total_steps=3)):
    try:
        bad()
    except ValueError as error:
        print(error)

net = nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2))
ema = AveragedModel(net, multi_avg_fn=get_ema_multi_avg_fn(0.9), use_buffers=True)
for _ in range(3):
    net(torch.randn(4, 2))
    ema.update_parameters(net)
print(ema.module[1].num_batches_tracked, ema.module[1].running_mean, ema.n_averaged)

a = np.array([1.5, 2.5], dtype=np.float32)
print([a[0], a.mean(), a[0] * 2, -a[1]], {"max": a.max()}, type(a[0]).__name__, f"{a[0]:.3f}", torch.tensor([a[0], a[1]]), np.isscalar(a[0]))
print((np.clip(7, 0, 5), np.maximum(1, 2), np.int32(4)), repr(np.array(1.0, dtype=np.float32)))
try:
    json.dumps({"a": a[0]})
except TypeError as error:
    print(error)
ignored = nn.CrossEntropyLoss(reduction="none", ignore_index=1)(torch.ones(2, 3), torch.tensor([0, 1]))
print(ignored.numpy(), nn.functional.kl_div(torch.zeros(1, 2, requires_grad=True), torch.ones(1, 2), reduction="batchmean"))

timed = benchmark.Timer("x * 2", globals={"x": torch.ones(2)}).timeit(3)
print(timed.mean >= 0, timed.median == timed.times[0], type(timed).__name__)
print(list(DistributedSampler(range(5), num_replicas=2, rank=0, shuffle=False)), clip_grad_norm_ is nn.utils.clip_grad_norm_)
