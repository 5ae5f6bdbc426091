import torch
import torch.nn as nn
from collections import OrderedDict

torch.manual_seed(0)


class Block(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.fc = nn.Linear(n, n)
        self.register_buffer("scale", torch.ones(n))
        self.register_buffer("steps", torch.tensor(0), persistent=False)
        self.register_parameter("shift", None)
        self.gain = nn.Parameter(torch.full((n,), 0.5))

    def forward(self, x, *, bias=0.0):
        return self.fc(x) * self.scale * self.gain + bias

    def extra_repr(self):
        return f"n={self.fc.in_features}"


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = Block(3)
        self.shared = self.a.fc
        self.params = nn.ParameterDict({"w": nn.Parameter(torch.zeros(2)), "b": nn.Parameter(torch.ones(1))})
        self.plist = nn.ParameterList([nn.Parameter(torch.ones(2) * i) for i in range(2)])
        self.blocks = nn.ModuleDict({"one": Block(2), "two": nn.ReLU()})
        self.seq = nn.Sequential(OrderedDict([("lin", nn.Linear(3, 2)), ("act", nn.Tanh())]))

    def forward(self, x):
        return self.seq(self.a(x, bias=1.0))


net = Net()
print(net)
print([n for n, _ in net.named_modules()])
print([n for n, _ in net.named_modules(remove_duplicate=False)])
print([n for n, _ in net.named_parameters()])
print([n for n, _ in net.named_parameters(remove_duplicate=False)])
print([n for n, _ in net.named_parameters(prefix="net", recurse=False)])
print([n for n, _ in net.named_buffers()])
print([n for n, _ in net.named_children()])
print(list(net.state_dict(prefix="m.")))
print(type(net.state_dict()), net.state_dict()._metadata["a.fc"] if hasattr(net.state_dict(), "_metadata") else None)
print(net.state_dict(keep_vars=True)["a.gain"].requires_grad, net.state_dict()["a.gain"].requires_grad)
print(net.get_parameter("a.fc.weight").shape, net.get_buffer("a.scale"), net.get_submodule("seq.act"))
for bad in ("a.nope", "a.fc", "b.weight"):
    try:
        net.get_parameter(bad)
    except AttributeError as e:
        print("AttributeError", e)
try:
    net.get_buffer("a.gain")
except AttributeError as e:
    print("AttributeError", e)
try:
    net.get_submodule("a.scale")
except AttributeError as e:
    print("AttributeError", e)
state = net.state_dict()
state["extra"] = torch.zeros(1)
del state["a.gain"]
result = net.load_state_dict(state, strict=False)
print(result, result.missing_keys, result.unexpected_keys)
missing, unexpected = net.load_state_dict(state, strict=False)
print(missing, unexpected)
try:
    net.load_state_dict(state)
except RuntimeError as e:
    print(e)
state = net.state_dict()
state["seq.lin.weight"] = torch.zeros(4, 4)
try:
    net.load_state_dict(state, strict=False)
except RuntimeError as e:
    print(e)
print(net.load_state_dict(net.state_dict()))

order = []
h1 = net.a.register_forward_pre_hook(lambda m, args, kwargs: (args, {"bias": kwargs["bias"] + 1.0}), with_kwargs=True)
h2 = net.seq.register_forward_hook(lambda m, args, out: order.append("hook") or out * 2)
h3 = net.seq.register_forward_hook(lambda m, args, out: order.append("first"), prepend=True)
h4 = net.seq.lin.register_full_backward_hook(lambda m, gi, go: order.append(("back", tuple(gi[0].shape), tuple(go[0].shape))))
h5 = net.seq.register_full_backward_pre_hook(lambda m, go: order.append("pre"))
x = torch.randn(4, 3)
net(x).sum().backward()
print(order)
for h in (h1, h2, h3, h4, h5):
    h.remove()
order.clear()
net(x)
print(order)


def init(m):
    order.append(type(m).__name__)
    if isinstance(m, nn.Linear):
        nn.init.ones_(m.weight)


net.apply(init)
print(order, net.a.fc.weight[0])
net.requires_grad_(False)
print(any(p.requires_grad for p in net.parameters()))
net.requires_grad_(True)
net.zero_grad()
print([p.grad for p in net.parameters()][:2])
net.a.fc.weight.grad = torch.ones(3, 3)
net.zero_grad(set_to_none=False)
print(net.a.fc.weight.grad)
net.half()
print({p.dtype for p in net.parameters()}, net.a.scale.dtype, net.a.steps.dtype)
net.bfloat16()
print(next(net.parameters()).dtype)
net.to(torch.float64)
print(next(net.parameters()).dtype, net.a.steps.dtype)
net.float()
net.train(False)
print(net.training, net.a.training)
net.train()
print(sum(p.numel() for p in net.parameters()))
print(net.params.keys(), list(net.params.items())[0][0], len(net.params), "w" in net.params)
print(net.params)
print(net.plist)
net.plist.append(nn.Parameter(torch.zeros(3)))
print(len(net.plist), net.plist[-1].shape, net.plist[0:2])
net.params.update({"c": nn.Parameter(torch.zeros(1))})
print(net.params.pop("c").shape, sorted(net.params))
print(net.blocks.keys(), list(net.blocks.values())[1], "one" in net.blocks)
net.blocks["three"] = nn.Dropout(0.3)
del net.blocks["two"]
print(net.blocks)
print(net.seq[0], net.seq[-1], net.seq[:1], len(net.seq))
seq = nn.Sequential(nn.Linear(1, 2), nn.ReLU())
seq.append(nn.Linear(2, 1))
seq.insert(0, nn.Identity())
seq.extend([nn.ReLU()])
print(seq)
print(seq + nn.Sequential(nn.Sigmoid()))
seq.pop(-1)
print(len(seq))
try:
    net.nothing
except AttributeError as e:
    print(e)
try:
    net.register_buffer("a", torch.zeros(1))
except KeyError as e:
    print("KeyError", e)
try:
    net.register_parameter("x.y", None)
except KeyError as e:
    print("KeyError", e)
try:
    net.register_buffer("q", 3)
except TypeError as e:
    print(e)
try:
    net.register_parameter("p", torch.zeros(1))
except TypeError as e:
    print(e)
try:
    net.add_module("m", 3)
except TypeError as e:
    print(e)
try:
    net.a.fc = 3
except TypeError as e:
    print(e)
try:
    net.a.gain = torch.zeros(3)
except TypeError as e:
    print(e)
try:
    net.a.scale = 3
except TypeError as e:
    print(e)
net.a.scale = None
print(list(net.a.state_dict()))


class Old(nn.Module):
    def __init__(self):
        self.w = nn.Parameter(torch.zeros(1))


try:
    Old()
except AttributeError as e:
    print(e)


class Versioned(nn.Module):
    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.zeros(2))

    def get_extra_state(self):
        return {"note": "hello"}

    def set_extra_state(self, state):
        print("extra", state)


v = Versioned()
print(list(v.state_dict().items()))
print(v.load_state_dict(v.state_dict()))


def rename(state_dict, prefix, *args):
    if prefix + "old" in state_dict:
        state_dict[prefix + "w"] = state_dict.pop(prefix + "old")


class Renamed(nn.Module):
    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.zeros(2))
        self.register_load_state_dict_pre_hook(lambda module, sd, prefix, *a: rename(sd, prefix))


r = Renamed()
print(r.load_state_dict({"old": torch.tensor([1.0, 2.0])}), r.w)
r._register_state_dict_hook(lambda module, sd, prefix, meta: sd.update({prefix + "tag": torch.tensor(1)}))
print(list(r.state_dict()))


class Custom(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(1, 1)

    def _load_from_state_dict(self, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs):
        key = prefix + "lin.w"
        if key in state_dict:
            state_dict[prefix + "lin.weight"] = state_dict.pop(key)
        super()._load_from_state_dict(state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs)


c = Custom()
print(c.load_state_dict({"lin.w": torch.ones(1, 1), "lin.bias": torch.zeros(1)}), c.lin.weight)
with torch.no_grad():
    c2 = Custom()
c2.load_state_dict(c.state_dict(), assign=True)
print(c2.lin.weight, list(nn.Sequential(c, c2).parameters())[0].shape)
import copy
d = copy.deepcopy(net)
print(d.a.fc.weight is net.a.fc.weight, torch.equal(d.a.fc.weight, net.a.fc.weight), d.shared is d.a.fc)
