import torch
import torch.nn as nn
import torch.nn.functional as F


class MLP(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(2, 16)
        self.fc2 = nn.Linear(16, 3)

    def forward(self, x):
        return self.fc2(F.relu(self.fc1(x)))


torch.manual_seed(0)
x = torch.randn(64, 2)
y = (x[:, 0] * x[:, 1] > 0).long() + (x[:, 0] > 1).long()
model = MLP()
print(model)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for step in range(20):
    optimizer.zero_grad()
    loss = F.cross_entropy(model(x), y)
    loss.backward()
    optimizer.step()
    if step % 5 == 0:
        print(f"{step} {loss.item():.4f}")
print(model.fc1.weight[:2])
