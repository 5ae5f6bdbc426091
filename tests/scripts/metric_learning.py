import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)


class Embedder(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(6, 16, bias=False), nn.BatchNorm1d(16), nn.PReLU(), nn.Dropout(p=0.2), nn.Linear(16, 4))

    def forward(self, x):
        return F.normalize(self.net(x), p=2, dim=1)


def nt_xent(a, b, temperature=0.5):
    z = torch.cat([a, b], dim=0)
    sim = torch.mm(z, z.t()) / temperature
    sim = sim.masked_fill(torch.eye(len(z), dtype=torch.bool), float("-inf"))
    target = torch.cat([torch.arange(len(a), 2 * len(a)), torch.arange(len(a))])
    return F.cross_entropy(sim, target)


centres = torch.randn(3, 6)
model, momentum = Embedder(), Embedder()
momentum.load_state_dict(model.state_dict())
for p in momentum.parameters():
    p.requires_grad_(False)
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
queue = F.normalize(torch.randn(4, 16), dim=0)
for step in range(10):
    labels = torch.randint(0, 3, (12,))
    x = centres[labels] + 0.3 * torch.randn(12, 6)
    a, b = model(x), model(x + 0.1 * torch.randn_like(x))
    with torch.no_grad():
        for p, q in zip(model.parameters(), momentum.parameters()):
            q.data.mul_(0.9).add_(p.data, alpha=0.1)
        keys = momentum(x)
    moco = F.cross_entropy(torch.cat([(a * keys).sum(1, keepdim=True), a @ queue], dim=1) / 0.2, torch.zeros(12, dtype=torch.long))
    queue = torch.cat([keys.T, queue], dim=1)[:, :16]
    dist = torch.cdist(a, a)
    same = labels.unsqueeze(0) == labels.unsqueeze(1)
    hardest = (dist * same.float()).max(dim=1)[0]
    nearest = (dist + 10.0 * same.float()).min(dim=1).values
    triplet = F.relu(hardest - nearest + 0.3).mean()
    info = nt_xent(a, b)
    margin = nn.CosineEmbeddingLoss(margin=0.2)(a[:6], b[6:], torch.where(labels[:6] == labels[6:], 1.0, -1.0))
    loss = info + 0.5 * triplet + 0.1 * moco + 0.1 * margin
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"{step} {info.item():.4f} {triplet.item():.4f} {moco.item():.4f} {margin.item():.4f}")
model.eval()
emb = model(centres)
print(F.cosine_similarity(emb[0:1], emb).detach(), F.pdist(centres).shape)
print(F.pairwise_distance(emb, emb.roll(1, 0)).detach(), F.one_hot(torch.tensor([0, 2]), 3), torch.topk(emb[0].detach(), 2).indices)
