class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell, self.out = nn.Linear(5, 4), nn.Linear(4, 1)
    def forward(self, x):
        h = torch.zeros(x.shape[0], 4)
        for t in range(4):
            h = torch.tanh(self.cell(torch.cat([x[:, t:t + 1], h], dim=1)))
        return self.out(h)
model = Net()
opt = torch.optim.Adam(model.parameters(), lr=0.01)
for step in range(N):
    opt.zero_grad()
    loss = F.mse_loss(model(x), y)
    loss.backward()
    opt.step()
print(f"{loss.item():.4f}")
