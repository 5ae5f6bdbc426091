# Results of operators lie in memory as permuted operands do, and random numbers are drawn in that order.
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(3)
q = torch.randn(2, 6, 8)
t = q.transpose(1, 2)


def told(name, x):
    print(name, x.stride(), x.is_contiguous(), f"{(x.reshape(-1) * torch.arange(x.numel())).sum():.3f}")


for name, f in {"plain": lambda: t, "sum": lambda: t + 1, "product": lambda: t * torch.ones(8, 1), "first": lambda: torch.ones(2, 8, 6) * t,
                "second": lambda: t - torch.ones(2, 8, 6), "where": lambda: torch.where(t > 0, t, 0.5), "gelu": lambda: F.gelu(t), "clone": lambda: t.clone(),
                "slice": lambda: t[:, 2:] + 1, "of a result": lambda: (t + 1)[:, 1:3], "again": lambda: (t + 1).transpose(1, 2),
                "softmax": lambda: t.softmax(-1), "linear": lambda: F.linear(t, torch.ones(3, 6)), "filled": lambda: t.masked_fill(t > 0, 1.0)}.items():
    torch.manual_seed(0)
    told(name, F.dropout(f()))
torch.manual_seed(0)
told("noise", torch.randn_like(t))
told("noise of a result", torch.randn_like(t + 1))
told("uniform", torch.rand_like(t * 2))

for batch_first in (True, False):
    torch.manual_seed(0)
    m = nn.TransformerEncoderLayer(8, 2, 16, 0.5, batch_first=batch_first, activation="gelu")
    print(batch_first, f"{m(q).abs().sum():.3f}")
m = nn.LSTM(8, 4, 2, dropout=0.5, batch_first=True)
torch.manual_seed(1)
y = F.dropout(F.relu(m(q)[0]), 0.5)
print(f"{y.sum():.4f}", y.stride())
m = nn.Conv1d(8, 4, 3)
y = F.dropout(F.relu(m(t)).transpose(1, 2), 0.5)
print(f"{y.sum():.4f}", y.stride())
images = torch.randn(3, 5, 5, 8).permute(0, 3, 1, 2)
m = nn.Sequential(nn.Conv2d(8, 4, 1), nn.BatchNorm2d(4), nn.ReLU(), nn.Dropout(0.5), nn.MaxPool2d(2), nn.Upsample(scale_factor=2), nn.Dropout2d(0.5))
y = m(images)
print(f"{y.sum():.4f}", y.stride(), nn.InstanceNorm2d(8)(images).stride(), torch.cat([images, images], 1).stride(), F.pad(images, (1, 1)).stride())

heads = q.view(2, 6, 2, 4).transpose(1, 2)
for kw in ({}, {"is_causal": True}, {"attn_mask": torch.ones(6, 6, dtype=torch.bool)}, {"dropout_p": 0.5}):
    y = F.scaled_dot_product_attention(heads, heads, heads, **kw).transpose(1, 2)
    print(list(kw), y.stride(), y.view(2, 6, 8).shape if y.is_contiguous() else None)
e = t + 1
try:
    e.view(-1)
except RuntimeError as error:
    print(error)
print(e.reshape(2, -1).shape, e.contiguous().view(-1).shape, e.clone().stride(), e.half().stride(), e[0].stride(), e.detach().stride())
e.add_(1)
e[0, 0] = 5
print(e.stride(), f"{e.sum():.4f}")
e.data = torch.zeros(3)
print(e.stride())

# A loop that repeats its turns draws in that order too.
torch.manual_seed(5)
m = nn.Sequential(nn.Linear(8, 8), nn.GELU(), nn.Linear(8, 1))
step = torch.optim.SGD(m.parameters(), lr=0.1)
for turn in range(8):
    x = torch.randn(4, 8, 5).transpose(1, 2) + 0.5
    loss = m(F.dropout(F.relu(x), 0.3)).pow(2).mean()
    step.zero_grad()
    loss.backward()
    step.step()
    print(turn, f"{loss.item():.5f}")
