# A tensor that is filled row by row, then trained on.
import torch
import torch.nn as nn
torch.manual_seed(0)
x = torch.zeros(24, 3)
y = torch.zeros(24)
for i in range(24):
    x[i] = torch.tensor([i / 24, (i % 5) / 5, 1.0])
    x[i, 1] += 0.5
    y[i] = x[i].sum()
    y[i:i + 1] *= 2
model = nn.Linear(3, 1)
opt = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(30):
    order = torch.randperm(24)
    total = 0.0
    for i in range(0, 24, 7):
        rows = order[i:i + 7]
        loss = ((model(x[rows]).squeeze(1) - y[rows]) ** 2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item() * len(rows)
    if step % 10 == 0:
        print(step, f"{total / 24:.4f}")
