import copy
import torch
import torch.nn as nn
from torch.utils.data import Dataset, DataLoader


class Squares(Dataset):
    def __init__(self, n):
        self.x = torch.linspace(-1, 1, n)

    def __len__(self):
        return len(self.x)

    def __getitem__(self, i):
        return {"x": self.x[i].unsqueeze(0), "y": self.x[i] ** 2, "i": i}


class Scale(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.tensor(1.0))
        self.layers = nn.ModuleList([nn.Linear(1, 8), nn.Linear(8, 1)])
        self.register_buffer("seen", torch.zeros(1))

    def forward(self, x):
        self.seen += x.size(0)
        for i, layer in enumerate(self.layers):
            x = layer(x) if i == 0 else layer(torch.tanh(x))
        return (x * self.scale).squeeze(-1)


torch.manual_seed(5)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = Scale().to(device)
opt = torch.optim.Adam(model.parameters(), lr=0.02)
losses, best, patience = [], float("inf"), 0
loader = DataLoader(Squares(20), batch_size=6, shuffle=True, drop_last=True)
for epoch in range(12):
    running = 0.0
    for batch in loader:
        x, y = batch["x"].to(device), batch["y"].to(device)
        loss = nn.functional.mse_loss(model(x), y)
        (loss / 2).backward()
        running += loss.item()
        if batch["i"][0] % 2 == 0:
            opt.step()
            opt.zero_grad()
    losses.append(running / len(loader))
    if losses[-1] < best:
        best, patience = losses[-1], 0
        kept = copy.deepcopy(model.state_dict())
    else:
        patience += 1
    if patience > 3:
        print("stopped", epoch)
        break
print([f"{v:.4f}" for v in losses], f"{best:.4f}")
model.load_state_dict(kept)
print(model.seen, model.scale, sum(1 for p in model.parameters() if p.requires_grad))
for p in model.layers[0].parameters():
    p.requires_grad = False
print([n for n, p in model.named_parameters() if p.requires_grad])
twin = copy.deepcopy(model)
print(torch.equal(twin.scale, model.scale), twin.scale is model.scale)
hooks = []
handle = model.layers[0].register_forward_hook(lambda m, i, o: hooks.append(tuple(o.shape)))
with torch.inference_mode():
    model(torch.ones(3, 1))
handle.remove()
print(hooks)
total = torch.zeros(())
correct = 0
pred = torch.tensor([[0.1, 0.9], [0.8, 0.2], [0.3, 0.7]])
labels = torch.tensor([1, 0, 0])
correct += (pred.argmax(dim=1) == labels).sum().item()
acc = (pred.max(1)[1] == labels).float().mean()
print(f"{100 * correct / len(labels):.1f}% {acc:.3f} {acc.item():.3f}", torch.mean(pred), "{:.2f}".format(total.item()))
print("loss: %.3f" % acc, round(acc.item(), 2), str(acc), [round(v, 2) for v in pred[0].tolist()])
