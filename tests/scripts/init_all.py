import torch
from torch import nn

torch.manual_seed(0)
w = torch.empty(4, 3)
for name, fill in (("uniform", lambda: nn.init.uniform_(w, -1, 1)), ("normal", lambda: nn.init.normal_(w, 1.0, 0.5)),
                   ("constant", lambda: nn.init.constant_(w, 0.3)), ("eye", lambda: nn.init.eye_(w)), ("ones", lambda: nn.init.ones_(w)),
                   ("xavier_uniform", lambda: nn.init.xavier_uniform_(w, gain=nn.init.calculate_gain("relu"))),
                   ("xavier_normal", lambda: nn.init.xavier_normal_(w)),
                   ("kaiming_uniform", lambda: nn.init.kaiming_uniform_(w, mode="fan_out", nonlinearity="relu")),
                   ("kaiming_normal", lambda: nn.init.kaiming_normal_(w, a=0.1)), ("trunc_normal", lambda: nn.init.trunc_normal_(w, std=0.02)),
                   ("trunc_normal narrow", lambda: nn.init.trunc_normal_(w, std=1.0, a=2.5, b=4.0)),
                   ("sparse", lambda: nn.init.sparse_(w, 0.5)), ("orthogonal", lambda: nn.init.orthogonal_(w)),
                   ("orthogonal gain", lambda: nn.init.orthogonal_(w, gain=2.0)), ("zeros", lambda: nn.init.zeros_(w))):
    print(name)
    print(fill())
wide = torch.empty(3, 5)
nn.init.orthogonal_(wide)
print(wide, (wide @ wide.T).round(decimals=4).abs())
conv = nn.Conv2d(4, 6, 3)
nn.init.orthogonal_(conv.weight)
print(conv.weight[0, 0], conv.weight.requires_grad)
print(nn.init.dirac_(torch.empty(3, 3, 3)), nn.init.dirac_(torch.empty(4, 2, 3, 3), groups=2).sum(0))
for name in ("linear", "tanh", "relu", "selu", "sigmoid"):
    print(name, nn.init.calculate_gain(name))
print(nn.init.calculate_gain("leaky_relu", 0.2))


def weights_init(m):
    if isinstance(m, nn.Linear):
        nn.init.orthogonal_(m.weight, 2 ** 0.5)
        nn.init.constant_(m.bias, 0.0)


net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 2)).apply(weights_init)
print(net[2].weight, net(torch.ones(1, 4)))
try:
    nn.init.xavier_uniform_(torch.empty(3))
except ValueError as error:
    print(error)
