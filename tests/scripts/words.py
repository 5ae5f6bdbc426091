"""Skip-grams with negative sampling, and a bigram table: loops at module level, as notebooks have them."""
import random
from collections import Counter, defaultdict

import torch
import torch.nn as nn
import torch.nn.functional as F

random.seed(0)
torch.manual_seed(0)
corpus = ("the king rules the land . the queen rules the land . a man walks . a woman walks . the king is a man . "
          "the queen is a woman .").split()
counts = Counter(corpus)
vocab = {w: i for i, (w, _) in enumerate(sorted(counts.items(), key=lambda p: (-p[1], p[0])))}
ids = [vocab[w] for w in corpus]
pairs = [(ids[i], ids[j]) for i in range(len(ids)) for j in range(max(0, i - 2), min(len(ids), i + 3)) if i != j]
weights = torch.tensor([float(counts[w]) for w in vocab]) ** 0.75


class SkipGram(nn.Module):
    def __init__(self, n, dim):
        super().__init__()
        self.u, self.v = nn.Embedding(n, dim), nn.Embedding(n, dim)
        nn.init.uniform_(self.u.weight, -0.5 / dim, 0.5 / dim)
        nn.init.zeros_(self.v.weight)

    def forward(self, center, context, negatives):
        u = self.u(center)
        good = F.logsigmoid((u * self.v(context)).sum(1))
        bad = F.logsigmoid(-torch.bmm(self.v(negatives), u.unsqueeze(2)).squeeze(2)).sum(1)
        return -(good + bad).mean()


model = SkipGram(len(vocab), 8)
optimizer = torch.optim.Adagrad(model.parameters(), lr=0.5)
running = defaultdict(list)
for epoch in range(4):
    random.shuffle(pairs)
    for i in range(0, len(pairs), 32):
        chunk = torch.tensor(pairs[i:i + 32])
        negatives = torch.multinomial(weights, len(chunk) * 3, replacement=True).view(-1, 3)
        loss = model(chunk[:, 0], chunk[:, 1], negatives)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        running[epoch].append(loss.item())
    print(f"epoch {epoch}: {sum(running[epoch]) / len(running[epoch]):.3f}")

words = sorted(set("".join(vocab)) - {"."})
stoi = {s: i + 1 for i, s in enumerate(words)}
stoi["."] = 0
xs, ys = [], []
for w in [w for w in vocab if w != "."]:
    chs = ["."] + list(w) + ["."]
    for a, b in zip(chs, chs[1:]):
        xs.append(stoi[a])
        ys.append(stoi[b])
xs, ys = torch.tensor(xs), torch.tensor(ys)
N = torch.zeros((len(stoi), len(stoi)), dtype=torch.int32)
for a, b in zip(xs, ys):
    N[a, b] += 1
P = (N + 1).float()
P /= P.sum(1, keepdim=True)
print(N.sum().item(), P[0, :4], -P[xs, ys].log().mean())
g = torch.Generator().manual_seed(2147483647)
W = torch.randn((len(stoi), len(stoi)), generator=g, requires_grad=True)
for k in range(10):
    xenc = F.one_hot(xs, num_classes=len(stoi)).float()
    logits = xenc @ W
    probs = logits.exp()
    probs = probs / probs.sum(1, keepdim=True)
    loss = -probs[torch.arange(len(xs)), ys].log().mean() + 0.01 * (W ** 2).mean()
    W.grad = None
    loss.backward()
    W.data += -10 * W.grad
    if k % 3 == 0:
        print(k, f"{loss.item():.4f}")
itos = {i: s for s, i in stoi.items()}
for _ in range(3):
    out, ix = [], 0
    while len(out) < 8:
        p = F.softmax(W[ix], dim=0)
        ix = torch.multinomial(p, num_samples=1, replacement=True, generator=g).item()
        if ix == 0:
            break
        out.append(itos[ix])
    print("".join(out))
