for step in range(N):
    weight = 0.01 * step
    opt.zero_grad()
    loss = F.mse_loss(model(x), y) * (1 + weight) + weight * sum((p ** 2).sum() for p in model.parameters())
    loss.backward()
    opt.step()
print(f"{loss.item():.4f}")
