"""Tensors and modules without elements, on the device `meta`."""
import copy

import torch
from torch import nn
from torch.func import functional_call, stack_module_state, vmap

torch.manual_seed(0)
with torch.device("meta"):
    model = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 2))
print(model[0].weight.device, model[0].weight.is_meta, model[1].running_mean.is_meta, model[0].weight.requires_grad)
print(model[0].bias)
x = torch.empty(3, 4, device="meta")
y = model(x)
print(y.shape, y.dtype, y.device, (x + 1).is_meta, torch.zeros_like(x), x.to(torch.float16))
print((x @ torch.ones(4, 5, device="meta")).shape, torch.arange(3, device="meta"), x[0].device, x.clone().is_meta)
for action in (lambda: x.sum().item(), lambda: x.tolist(), lambda: model.to("cpu"), lambda: x.to("cpu")):
    try:
        action()
        print("no error")
    except (NotImplementedError, RuntimeError) as error:
        print(type(error).__name__, error)

# Made on the device: elements come from a file, or are filled.
source = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 2))
model.load_state_dict(source.state_dict(), assign=True)
print(model[0].weight.device, torch.equal(model[0].weight, source[0].weight))
with torch.device("meta"):
    other = nn.Linear(3, 3)
other = other.to_empty(device="cpu")
nn.init.ones_(other.weight)
nn.init.zeros_(other.bias)
print(other(torch.ones(1, 3)), other.weight.device)
loss = other(torch.ones(2, 3)).sum()
loss.backward()
print(other.weight.grad)

# An ensemble's skeleton.
models = [nn.Linear(4, 2) for _ in range(3)]
parameters, buffers = stack_module_state(models)
base = copy.deepcopy(models[0]).to("meta")
print(base.weight.is_meta, models[0].weight.is_meta)


def call(parameters, buffers, x):
    return functional_call(base, (parameters, buffers), (x,))


data = torch.randn(5, 4)
print(torch.allclose(vmap(call, in_dims=(0, 0, None))(parameters, buffers, data), torch.stack([m(data) for m in models]), atol=1e-6))
before = torch.get_rng_state()
with torch.device("meta"):
    nn.Linear(100, 100)
print(torch.equal(before, torch.get_rng_state()))
print(torch.ones(2).device, torch.ones(2))

# Modules whose parameters are there.
for module in (nn.Linear(3, 4, device="meta"), nn.Conv2d(3, 4, 3, device=torch.device("meta")), nn.LSTM(2, 3, device="meta"),
               nn.TransformerEncoderLayer(8, 2, device="meta"), nn.BatchNorm1d(3, device="meta")):
    print(type(module).__name__, {t.device.type for t in module.state_dict().values()}, sum(p.numel() for p in module.parameters()))
whole = nn.Linear(3, 4, device="meta").to_empty(device="cpu")
whole.load_state_dict({"weight": torch.ones(4, 3), "bias": torch.zeros(4)})
print(whole(torch.ones(1, 3)), nn.Embedding(3, 4, device="cpu").weight.device, nn.RNNCell(2, 3).weight_ih.shape)

# Modules say their parameters, the device among them.
import inspect

for kind in (nn.Linear, nn.Embedding, nn.LSTMCell):
    print(kind.__name__, list(inspect.signature(kind).parameters), list(inspect.signature(kind.__init__).parameters)[:2])
