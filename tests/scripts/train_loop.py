import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset, random_split

torch.manual_seed(1)
X = torch.randn(50, 4)
Y = X @ torch.tensor([[1.0], [-2.0], [0.5], [3.0]]) + 0.1 * torch.randn(50, 1)
data = TensorDataset(X, Y)
train, test = random_split(data, [40, 10])
loader = DataLoader(train, batch_size=8, shuffle=True)
test_loader = DataLoader(test, batch_size=5)
model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Dropout(0.1), nn.Linear(8, 1))
criterion = nn.MSELoss()
opt = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9, weight_decay=1e-4)
sched = torch.optim.lr_scheduler.StepLR(opt, step_size=2, gamma=0.5)
for epoch in range(5):
    model.train()
    total = 0.0
    for xb, yb in loader:
        opt.zero_grad()
        loss = criterion(model(xb), yb)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        opt.step()
        total += loss.item() * len(xb)
    sched.step()
    model.eval()
    with torch.no_grad():
        val = sum(criterion(model(a), b).item() for a, b in test_loader) / len(test_loader)
    print(f"epoch {epoch}: train {total / 40:.4f} val {val:.4f} lr {sched.get_last_lr()[0]:.4f}")
print(sum(p.numel() for p in model.parameters()), model)
