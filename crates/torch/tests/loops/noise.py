for step in range(N):
    opt.zero_grad()
    loss = F.mse_loss(model(x + 0.1 * torch.randn_like(x)), y)
    loss.backward()
    opt.step()
print(f"{loss.item():.4f}")
