class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell, self.out = nn.RNN(4, 6), nn.Linear(6, 1)
    def forward(self, x, h):
        o, h = self.cell(x, h)
        return self.out(o), h
def repackage(h):
    return h.detach() if isinstance(h, torch.Tensor) else tuple(repackage(v) for v in h)
model, total = Net(), 0.0
h = torch.zeros(1, 8, 6)
xs, ys = x.view(4, 8, 4), y.view(4, 8, 1)
for step in range(N):
    model.zero_grad()
    h = repackage(h)
    out, h = model(xs, h)
    loss = F.mse_loss(out, ys)
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 0.25)
    for p in model.parameters():
        p.data.add_(p.grad, alpha=-0.1)
    total += loss.item()
print(f"{total:.4f} {h.sum().item():.4f} {h.requires_grad}")
try:
    h.sum().backward()
except RuntimeError as e:
    print(str(e)[:50])
