total = 0.0
for step in range(N):
    opt.zero_grad()
    loss = F.mse_loss(model(x), y)
    loss.backward()
    opt.step()
    total += loss.item()
print(f"{loss.item():.4f}", total > 0)
