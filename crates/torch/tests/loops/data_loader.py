from torch.utils.data import DataLoader, TensorDataset
loader = DataLoader(TensorDataset(x, y), batch_size=8, shuffle=True)
for epoch in range(N // 3):
    for a, b in loader:
        opt.zero_grad()
        loss = F.mse_loss(model(a), b)
        loss.backward()
        opt.step()
print(f"{loss.item():.4f}")
