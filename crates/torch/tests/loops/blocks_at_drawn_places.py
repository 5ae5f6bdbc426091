text = torch.randint(0, 12, (200,))
net = nn.Sequential(nn.Embedding(12, 8), nn.Linear(8, 12))
opt = torch.optim.AdamW(net.parameters(), lr=0.01)


def batch():
    at = torch.randint(len(text) - 6, (4,))
    return torch.stack([text[i:i + 6] for i in at]), torch.stack([text[i + 1:i + 7] for i in at])


for step in range(N):
    ids, wanted = batch()
    loss = F.cross_entropy(net(ids).view(-1, 12), wanted.view(-1))
    opt.zero_grad(set_to_none=True)
    loss.backward()
    opt.step()
print(f"{loss.item():.4f}")
