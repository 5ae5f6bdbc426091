import torch, torch.nn as nn, torch.nn.functional as F
from torch.nn.utils import spectral_norm, parameters_to_vector, vector_to_parameters
import torch.nn.utils.parametrize as parametrize
from torch.nn.utils.parametrizations import spectral_norm as sn2, weight_norm as wn2, orthogonal

torch.manual_seed(0)
D = nn.Sequential(spectral_norm(nn.Conv2d(1, 4, 3, padding=1)), nn.LeakyReLU(0.1), nn.Flatten(), spectral_norm(nn.Linear(64, 1)))
print(D)
print(list(D.state_dict()))
o = torch.optim.Adam(D.parameters(), 1e-2)
x = torch.randn(3, 1, 4, 4)
for i in range(3):
    l = F.relu(1 - D(x)).mean()
    o.zero_grad()
    l.backward()
    o.step()
    print(f"{l.item():.4f}")
D.eval()
print(D(x).detach().view(-1), torch.linalg.matrix_norm(D[3].weight, 2) < 3)
m = sn2(nn.Linear(5, 4))
print(m, list(m.state_dict()))
print(m(torch.ones(2, 5)).sum().item(), torch.linalg.matrix_norm(m.weight.detach(), 2).item())
w = wn2(nn.Linear(3, 2))
print(w, list(w.state_dict()), w(torch.ones(1, 3)))


class Symmetric(nn.Module):
    def forward(self, X):
        return X.triu() + X.triu(1).transpose(-1, -2)


l = nn.Linear(3, 3)
parametrize.register_parametrization(l, "weight", Symmetric())
print(l)
print(
    torch.allclose(l.weight, l.weight.T),
    parametrize.is_parametrized(l),
    l.parametrizations.weight.original.shape,
    l.parametrizations.weight[0],
)
opt = torch.optim.SGD(l.parameters(), 0.1)
l(torch.ones(1, 3)).sum().backward()
opt.step()
print(l.weight)
parametrize.remove_parametrizations(l, "weight")
print(l, l.weight)
og = orthogonal(nn.Linear(3, 3))
W = og.weight
print(torch.dist(W.T @ W, torch.eye(3)) < 1e-5)
v = parameters_to_vector(l.parameters())
vector_to_parameters(v * 0 + 1, l.parameters())
print(l.bias)
print(F.rrelu(torch.tensor([-1.0, 2.0])), nn.RReLU(0.1, 0.3)(torch.randn(5)), nn.RReLU())
