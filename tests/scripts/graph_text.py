import csv
import io
import json
import os
import tempfile
from collections import Counter, OrderedDict, defaultdict
from functools import partial
from pathlib import Path

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.utils.rnn import pad_sequence, pack_padded_sequence, pad_packed_sequence
from torch.utils.data import DataLoader, Dataset

torch.manual_seed(0)
tmp = Path(tempfile.gettempdir()) / "graph_text_data"
tmp.mkdir(exist_ok=True)
with open(tmp / "reviews.csv", "w", newline="") as f:
    w = csv.writer(f)
    w.writerow(["text", "label"])
    w.writerows([["a great, great film", "pos"], ["dull and long", "neg"], ["great fun", "pos"], ["not great; dull", "neg"], ["fun", "pos"]])
with open(tmp / "config.json", "w") as f:
    json.dump({"dim": 8, "hidden": 6, "lr": 0.05, "epochs": 3}, f, indent=2)
config = json.loads((tmp / "config.json").read_text())
rows = list(csv.DictReader(open(tmp / "reviews.csv")))
print(config, len(rows), rows[0])


def tokenize(s):
    return "".join(c if c.isalnum() else " " for c in s.lower()).split()


counter = Counter(tok for r in rows for tok in tokenize(r["text"]))
itos = ["<pad>", "<unk>"] + [w for w, _ in counter.most_common()]
stoi = defaultdict(lambda: 1, {w: i for i, w in enumerate(itos)})
print(counter.most_common(3), stoi["great"], stoi["zzz"])


class Reviews(Dataset):
    def __init__(self, rows):
        self.rows = rows

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        r = self.rows[i]
        return torch.tensor([stoi[t] for t in tokenize(r["text"])]), float(r["label"] == "pos")


def collate(batch, pad=0):
    batch.sort(key=lambda b: len(b[0]), reverse=True)
    texts, labels = zip(*batch)
    lengths = torch.tensor([len(t) for t in texts])
    return pad_sequence(texts, batch_first=True, padding_value=pad), lengths, torch.tensor(labels)


class BiLSTM(nn.Module):
    def __init__(self, vocab, dim, hidden):
        super().__init__()
        self.emb = nn.Embedding(vocab, dim, padding_idx=0)
        self.rnn = nn.LSTM(dim, hidden, batch_first=True, bidirectional=True, num_layers=2, dropout=0.2)
        self.fc = nn.Linear(2 * hidden, 1)

    def forward(self, x, lengths):
        packed = pack_padded_sequence(self.emb(x), lengths.cpu(), batch_first=True)
        out, (h, c) = self.rnn(packed)
        out, n = pad_packed_sequence(out, batch_first=True)
        return self.fc(torch.cat((h[-2], h[-1]), dim=1)).squeeze(1)


model = BiLSTM(len(itos), config["dim"], config["hidden"])
opt = torch.optim.Adam(model.parameters(), lr=config["lr"])
loader = DataLoader(Reviews(rows), batch_size=3, shuffle=True, collate_fn=partial(collate, pad=0))
for epoch in range(config["epochs"]):
    for x, n, y in loader:
        loss = F.binary_cross_entropy_with_logits(model(x, n), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(f"epoch {epoch} {loss.item():.4f}")
print(model.emb.weight[0].abs().sum().item())
proj = nn.LSTM(4, 6, num_layers=2, proj_size=3, batch_first=True, bidirectional=True)
o, (h, c) = proj(torch.randn(2, 5, 4))
print(o.shape, h.shape, c.shape, [tuple(p.shape) for p in proj.parameters()][:5], o[0, 0])
o.sum().backward()
print(proj.weight_hr_l0.grad.shape)


class GCNLayer(nn.Module):
    def __init__(self, i, o):
        super().__init__()
        self.lin = nn.Linear(i, o, bias=False)

    def forward(self, x, adj):
        deg = adj.sum(1)
        d = torch.diag(deg.pow(-0.5))
        return d @ adj @ d @ self.lin(x)


edges = torch.tensor([[0, 1], [1, 2], [2, 3], [3, 0], [4, 5]]).t()
adj = torch.zeros(6, 6)
adj[edges[0], edges[1]] = 1
adj = ((adj + adj.T) > 0).float() + torch.eye(6)
g1, g2 = GCNLayer(3, 8), GCNLayer(8, 2)
feats, labels = torch.randn(6, 3), torch.tensor([0, 0, 1, 1, 0, 1])
opt = torch.optim.Adam([*g1.parameters(), *g2.parameters()], lr=0.05, weight_decay=5e-4)
for i in range(3):
    out = g2(F.dropout(F.relu(g1(feats, adj)), 0.1), adj)
    loss = F.nll_loss(F.log_softmax(out, 1), labels)
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(f"gcn {loss.item():.4f}")


def scatter_mean(src, index, n):
    out = torch.zeros(n, src.shape[1]).index_add_(0, index, src)
    count = torch.zeros(n).scatter_add_(0, index, torch.ones(index.shape[0])).clamp_(min=1)
    return out / count[:, None]


print(scatter_mean(feats, torch.tensor([0, 0, 1, 1, 1, 2]), 4))


class HyperNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.z = nn.Parameter(torch.randn(4))
        self.gen = nn.Linear(4, 3 * 2 + 2)

    def forward(self, x):
        w, b = self.gen(self.z).split([6, 2])
        return F.linear(x, w.view(2, 3), b)


hyper = HyperNet()
hyper(feats).sum().backward()
print(hyper.z.grad.shape, hyper.gen.weight.grad.norm() > 0)


def beam_search(logits_fn, start, width, steps):
    beams = [([start], 0.0)]
    for _ in range(steps):
        cand = []
        for seq, score in beams:
            lp = F.log_softmax(logits_fn(seq), dim=-1)
            top, idx = lp.topk(width)
            cand += [(seq + [i.item()], score + s.item()) for s, i in zip(top, idx)]
        beams = sorted(cand, key=lambda b: -b[1])[:width]
    return beams


table = torch.randn(5, 5)
for seq, score in beam_search(lambda s: table[s[-1]], 0, 2, 3):
    print(seq, f"{score:.4f}")
