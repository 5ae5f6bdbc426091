for step in range(N):
    loss = F.mse_loss(model(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
print(f"{loss.item():.4f}")
