import copy
import torch
from torch import nn

torch.manual_seed(0)


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.register_buffer("mask", torch.tril(torch.ones(3, 3)))
        self.register_buffer("steps", torch.tensor(0), persistent=False)
        self.linear = nn.Linear(width, width)
        self.alpha = nn.Parameter(torch.ones(1))
        self.layers = nn.ModuleList([nn.Linear(width, width) for _ in range(2)])
        self.table = nn.ModuleDict({"a": nn.ReLU(), "b": nn.Identity()})
        self.params = nn.ParameterList([nn.Parameter(torch.zeros(2)), nn.Parameter(torch.ones(1))])
        self.pd = nn.ParameterDict({"w": nn.Parameter(torch.full((2,), 0.5))})

    def forward(self, x):
        for layer in self.layers:
            x = self.table["a"](layer(x))
        return self.linear(x) * self.alpha


net = Block(3)
print(net)
print([n for n, _ in net.named_parameters()], [n for n, _ in net.named_buffers()], list(net.state_dict()))
print([n for n, _ in net.named_modules()], [type(m).__name__ for m in net.children()])
seen = []
handle = net.linear.register_forward_hook(lambda m, args, out: seen.append(tuple(out.shape)))
pre = net.linear.register_forward_pre_hook(lambda m, args: (args[0] * 2,))
x = torch.randn(2, 3)
a = net(x)
handle.remove()
pre.remove()
b = net(x)
print(seen, torch.allclose(a, b), sum(p.numel() for p in net.parameters()))
twin = copy.deepcopy(net)
twin.alpha.data.fill_(3.0)
print(net.alpha.item(), twin.alpha.item(), torch.allclose(twin(x), net(x) * 3))
net.apply(lambda m: nn.init.zeros_(m.bias) if isinstance(m, nn.Linear) else None)
print(net.linear.bias, net.training, net.eval().training, net.table["b"].training)
for p in net.layers.parameters():
    p.requires_grad = False
print([n for n, p in net.named_parameters() if p.requires_grad])
net.extra = nn.Linear(3, 1)
del net.pd
print("extra.weight" in net.state_dict(), "pd.w" in net.state_dict(), net.get_submodule("layers.1"), net.get_parameter("linear.bias").shape)
state = net.state_dict()
state["linear.bias"] = torch.zeros(4)
del state["alpha"]
state["other"] = torch.ones(1)
try:
    net.load_state_dict(state)
except RuntimeError as error:
    print(error)
print(net.load_state_dict({"alpha": torch.tensor([5.0])}, strict=False).unexpected_keys, net.alpha)
model = nn.Sequential(nn.Linear(2, 2), nn.Sequential(nn.ReLU(), nn.Linear(2, 1)))
print(model[1][1], len(model), model[0:1], model[-1][0])
model.append(nn.Sigmoid())
model.double().float()
print(model, next(model.parameters()).dtype)
grads = []
w = torch.ones(2, requires_grad=True)
w.register_hook(lambda g: g * 10)
(w * 3).sum().backward()
print(w.grad)
vector = nn.utils.parameters_to_vector(model.parameters())
nn.utils.vector_to_parameters(torch.zeros_like(vector), model.parameters())
print(vector.shape, model(torch.ones(1, 2)))
try:
    net.missing
except AttributeError as error:
    print(error)
try:
    net.alpha = torch.ones(1)
except TypeError as error:
    print(error)
