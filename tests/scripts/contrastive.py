import torch, torch.nn as nn, torch.nn.functional as F

torch.manual_seed(0)


def nt_xent(z1, z2, t=0.5):
    n = z1.size(0)
    z = F.normalize(torch.cat([z1, z2]), dim=1)
    sim = z @ z.t() / t
    sim.fill_diagonal_(float("-inf"))
    tgt = torch.cat([torch.arange(n, 2 * n), torch.arange(n)])
    return F.cross_entropy(sim, tgt)


def info_nce(features, bs, temperature=0.07):
    labels = torch.cat([torch.arange(bs) for i in range(2)], dim=0)
    labels = (labels.unsqueeze(0) == labels.unsqueeze(1)).float()
    features = F.normalize(features, dim=1)
    sim = torch.matmul(features, features.T)
    mask = torch.eye(labels.shape[0], dtype=torch.bool)
    labels = labels[~mask].view(labels.shape[0], -1)
    sim = sim[~mask].view(sim.shape[0], -1)
    pos = sim[labels.bool()].view(labels.shape[0], -1)
    neg = sim[~labels.bool()].view(sim.shape[0], -1)
    logits = torch.cat([pos, neg], dim=1)
    return logits / temperature, torch.zeros(logits.shape[0], dtype=torch.long)


enc = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 4))
opt = torch.optim.Adam(enc.parameters(), 1e-2)
x = torch.randn(6, 8)
for i in range(3):
    a, b = x + 0.1 * torch.randn_like(x), x + 0.1 * torch.randn_like(x)
    l = nt_xent(enc(a), enc(b))
    lo, la = info_nce(enc(torch.cat([a, b])), 6)
    l2 = F.cross_entropy(lo, la)
    opt.zero_grad()
    (l + l2).backward()
    opt.step()
    print(f"{l.item():.4f} {l2.item():.4f}")


class CLIP(nn.Module):
    def __init__(self):
        super().__init__()
        self.i = nn.Linear(8, 4)
        self.t = nn.EmbeddingBag(10, 4, mode="mean")
        self.logit_scale = nn.Parameter(torch.ones([]) * torch.tensor(1 / 0.07).log())

    def forward(self, i, t):
        i, t = self.i(i), self.t(t)
        i = i / i.norm(dim=1, keepdim=True)
        t = t / t.norm(dim=1, keepdim=True)
        s = self.logit_scale.exp()
        li = s * i @ t.t()
        return li, li.t()


c = CLIP()
li, lt = c(x, torch.randint(0, 10, (6, 3)))
y = torch.arange(6)
l = (F.cross_entropy(li, y) + F.cross_entropy(lt, y)) / 2
l.backward()
print(l, c.logit_scale, c.logit_scale.grad, c)
tl = nn.TripletMarginLoss(margin=1.0, p=2)
print(tl(enc(x), enc(x + 0.1), enc(x.flip(0))))


class ContrastiveLoss(nn.Module):
    def __init__(self, margin=2.0):
        super().__init__()
        self.margin = margin

    def forward(self, a, b, label):
        d = F.pairwise_distance(a, b, keepdim=True)
        return torch.mean((1 - label) * torch.pow(d, 2) + label * torch.pow(torch.clamp(self.margin - d, min=0.0), 2))


print(ContrastiveLoss()(enc(x), enc(x.roll(1, 0)), torch.randint(0, 2, (6, 1)).float()))
e = F.normalize(enc(x))
d = torch.cdist(e, e)
print(d.shape, d.diag().abs().max() < 1e-3, torch.topk(d, 3, largest=False).indices[:, 0])
lab = torch.tensor([0, 0, 1, 1, 2, 2])
same = lab[:, None].eq(lab[None])
hp = (d * same).max(1)[0]
hn = (d + 1e5 * same).min(1).values
print(F.relu(hp - hn + 0.3).mean())


class ArcFace(nn.Module):
    def __init__(self, i, o, s=30.0, m=0.5):
        super().__init__()
        self.s, self.m = s, m
        self.weight = nn.Parameter(torch.FloatTensor(o, i))
        nn.init.xavier_uniform_(self.weight)

    def forward(self, x, label):
        cos = F.linear(F.normalize(x), F.normalize(self.weight))
        th = torch.acos(cos.clamp(-1 + 1e-7, 1 - 1e-7))
        oh = torch.zeros_like(cos).scatter_(1, label.view(-1, 1).long(), 1)
        return self.s * torch.where(oh.bool(), torch.cos(th + self.m), cos)


print(F.cross_entropy(ArcFace(4, 3)(enc(x), lab), lab).item())


class CenterLoss(nn.Module):
    def __init__(self, n, d):
        super().__init__()
        self.centers = nn.Parameter(torch.randn(n, d))

    def forward(self, x, l):
        return (x - self.centers.index_select(0, l)).pow(2).sum() / 2 / x.size(0)


print(CenterLoss(3, 4)(enc(x), lab))
print(
    F.cosine_embedding_loss(enc(x), enc(x.flip(0)), torch.tensor([1, -1, 1, -1, 1, -1])),
    F.margin_ranking_loss(torch.randn(3), torch.randn(3), torch.tensor([1.0, -1.0, 1.0])),
)


# VICReg / Barlow / BYOL
def off_diagonal(x):
    n, m = x.shape
    assert n == m
    return x.flatten()[:-1].view(n - 1, n + 1)[:, 1:].flatten()


z1, z2 = enc(x), enc(x + 0.1)
z1n = (z1 - z1.mean(0)) / z1.std(0)
z2n = (z2 - z2.mean(0)) / z2.std(0)
cc = z1n.T @ z2n / 6
print((torch.diagonal(cc).add_(-1).pow_(2).sum() + 5e-3 * off_diagonal(cc).pow_(2).sum()).item())
std = torch.sqrt(z1.var(dim=0) + 1e-4)
print(torch.mean(F.relu(1 - std)), off_diagonal((z1 - z1.mean(0)).T @ (z1 - z1.mean(0)) / 5).pow_(2).sum().div(4))
