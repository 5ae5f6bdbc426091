from torch.utils.data import DataLoader, Dataset
class Rows(Dataset):
    def __len__(self):
        return 8
    def __getitem__(self, i):
        return torch.tensor([float(i), 1.0, 0.0, 2.0]), torch.tensor([float(i)])
loader = DataLoader(Rows(), batch_size=4, shuffle=True)
for epoch in range(N // 2):
    for a, b in loader:
        opt.zero_grad()
        loss = F.mse_loss(model(a) * 0.1, b * 0.1)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 0.5)
        opt.step()
print(f"{loss.item():.4f}")
