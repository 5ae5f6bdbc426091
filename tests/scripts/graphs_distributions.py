import torch, torch.nn as nn, torch.nn.functional as F, os, time, random, numpy as np
from torch.distributions import Beta, Gamma, Dirichlet, Poisson, StudentT, TransformedDistribution, Normal, Independent

torch.manual_seed(0)


# GNN
class GCN(nn.Module):
    def __init__(self, i, h, o):
        super().__init__()
        self.l1 = nn.Linear(i, h)
        self.l2 = nn.Linear(h, o)

    def prop(self, x, ei):
        row, col = ei
        deg = torch.zeros(x.size(0)).scatter_add_(0, col, torch.ones(col.size(0)))
        dinv = deg.pow(-0.5)
        dinv[dinv == float("inf")] = 0
        norm = dinv[row] * dinv[col]
        return torch.zeros_like(x).index_add_(0, col, x[row] * norm.unsqueeze(1))

    def forward(self, x, ei):
        x = F.relu(self.prop(self.l1(x), ei))
        return self.prop(self.l2(F.dropout(x, training=self.training)), ei)


ei = torch.tensor([[0, 1, 2, 3, 0, 2], [1, 0, 3, 2, 2, 0]])
ei = torch.cat([ei, torch.arange(4).repeat(2, 1)], 1)
x = torch.eye(4)
y = torch.tensor([0, 0, 1, 1])
g = GCN(4, 8, 2)
o = torch.optim.Adam(g.parameters(), 0.05, weight_decay=5e-4)
for i in range(5):
    l = F.cross_entropy(g(x, ei), y)
    o.zero_grad()
    l.backward()
    o.step()
print(
    f"{l.item():.4f}",
    torch.zeros(3).index_reduce_ if False else "",
    torch.zeros(2, 3).scatter_reduce(1, torch.tensor([[0, 0, 1], [2, 2, 2]]), torch.ones(2, 3), "sum"),
)


# word2vec SGNS, MF
class SG(nn.Module):
    def __init__(self, v, d):
        super().__init__()
        self.i = nn.Embedding(v, d)
        self.o = nn.Embedding(v, d)
        nn.init.uniform_(self.i.weight, -0.5 / d, 0.5 / d)
        nn.init.zeros_(self.o.weight)

    def forward(self, c, p, n):
        c = self.i(c)
        return -(F.logsigmoid((c * self.o(p)).sum(1)) + F.logsigmoid(-torch.bmm(self.o(n), c.unsqueeze(2)).squeeze(2)).sum(1)).mean()


s = SG(20, 8)
o = torch.optim.SparseAdam(s.parameters()) if False else torch.optim.Adam(s.parameters(), 0.01)
wts = torch.rand(20) ** 0.75
for i in range(3):
    l = s(torch.randint(0, 20, (8,)), torch.randint(0, 20, (8,)), torch.multinomial(wts, 8 * 5, replacement=True).view(8, 5))
    o.zero_grad()
    l.backward()
    o.step()
    print(f"{l.item():.4f}", end=" ")
print()
# AMP on cpu, checkpoint save/resume
m = nn.Linear(4, 2)
o = torch.optim.Adam(m.parameters(), 1e-2)
scaler = torch.amp.GradScaler("cpu", enabled=False) if False else torch.cuda.amp.GradScaler(enabled=torch.cuda.is_available())
for i in range(2):
    with torch.autocast(device_type="cpu", dtype=torch.bfloat16, enabled=True):
        out = m(torch.ones(3, 4))
        l = F.cross_entropy(out.float(), torch.tensor([0, 1, 0]))
    o.zero_grad()
    scaler.scale(l).backward()
    scaler.step(o)
    scaler.update()
print(out.dtype, scaler.get_scale())
torch.save({"epoch": 3, "model": m.state_dict(), "opt": o.state_dict(), "best": 0.5}, "ck.pt")
ck = torch.load("ck.pt", map_location="cpu")
m2 = nn.Linear(4, 2)
print(m2.load_state_dict(ck["model"]), ck["epoch"], sorted(ck), torch.equal(m2.weight, m.weight))
os.remove("ck.pt")
# distributions
for d, v in (
    (Beta(2.0, 3.0), 0.3),
    (Gamma(2.0, 1.0), 1.5),
    (Dirichlet(torch.tensor([1.0, 2, 3])), torch.tensor([0.2, 0.3, 0.5])),
    (Poisson(3.0), 2.0),
    (StudentT(4.0), 0.5),
):
    print(d, d.log_prob(torch.as_tensor(v)), d.mean, d.variance)
td = TransformedDistribution(Normal(torch.zeros(2), torch.ones(2)), [torch.distributions.transforms.TanhTransform(cache_size=1)])
a = td.rsample()
print(a, td.log_prob(a))
# views
a = torch.zeros(2, 3)
a.unsqueeze_(0)
print(a.shape)
v = a.view(-1)
v[0] = 5
print(a)
b = a.squeeze_()
print(b is a, a.shape)
a.t_()
print(a.shape)
w = nn.Parameter(torch.ones(2, 2))
w.data = w.data * 2
w.data[0] = 0
w.data.add_(1)
print(w)
print(
    Beta(2.0, 3.0).sample((3,)),
    Gamma(0.5, 2.0).sample((2,)),
    Dirichlet(torch.tensor([1.0, 2, 3])).sample(),
    Poisson(torch.tensor([2.0, 20.0])).sample(),
    StudentT(4.0).sample((2,)),
)
