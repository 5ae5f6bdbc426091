for step in range(N):
    opt.zero_grad()
    loss = F.mse_loss(model(x), y)
    loss.backward()
    norm = sum(p.grad.norm().item() ** 2 for p in model.parameters()) ** 0.5
    opt.step()
print(f"{loss.item():.4f} {norm:.4f}")
