for step in range(N):
    loss = F.mse_loss(model(x), y)
    loss.backward()
    opt.step()
    opt.zero_grad()
print(f"{loss.item():.4f}")
