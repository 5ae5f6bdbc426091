from torch.utils.data import DataLoader, TensorDataset
train, held = DataLoader(TensorDataset(x, y), batch_size=8, shuffle=True), DataLoader(TensorDataset(x[:24], y[:24]), batch_size=8)
def fit(epoch):
    model.train()
    for i, (a, b) in enumerate(train):
        opt.zero_grad()
        loss = F.mse_loss(model(a), b)
        loss.backward()
        opt.step()
def validate():
    model.eval()
    total = 0
    with torch.no_grad():
        for a, b in held:
            total += F.mse_loss(model(a), b, reduction="sum").item()
    return total / len(held.dataset)
for epoch in range(N // 2):
    fit(epoch)
    print(f"{validate():.4f}")
