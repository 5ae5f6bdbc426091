import random

random.seed(5)
kept = 0
for step in range(N * 2):
    i = random.randint(0, 16)
    rows, wanted = x[i:i + 16], y[i:i + 16]
    if random.random() < 0.3:
        rows = rows + 0.1 * torch.randn(16, 4)
        kept += 1
    loss = F.mse_loss(model(rows), wanted) * random.uniform(0.9, 1.1)
    opt.zero_grad()
    loss.backward()
    opt.step()
print(f"{loss.item():.4f}", kept, random.random(), random.sample(range(100), 4))
