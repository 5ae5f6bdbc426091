def train_step(x, y):
    opt.zero_grad()
    loss = F.mse_loss(model(x), y)
    loss.backward()
    opt.step()
    return loss
for step in range(N):
    loss = train_step(x, y)
print(f"{loss.item():.4f}")
