for step in range(N):
    for group in opt.param_groups:
        group["lr"] = 0.05 * min(1.0, (step + 1) / 10)
    opt.zero_grad()
    loss = F.mse_loss(model(x), y)
    loss.backward()
    opt.step()
print(f"{loss.item():.4f}")
