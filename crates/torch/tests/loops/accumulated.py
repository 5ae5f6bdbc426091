for step in range(N):
    loss = F.mse_loss(model(x), y) / 2
    loss.backward()
    if (step + 1) % 2 == 0:
        opt.step()
        opt.zero_grad()
print(f"{loss.item():.4f}")
