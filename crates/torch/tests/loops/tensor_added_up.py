total = torch.zeros(())
for step in range(N):
    opt.zero_grad()
    loss = F.mse_loss(model(x), y)
    loss.backward()
    opt.step()
    total += loss.detach()
print(f"{loss.item():.4f} {total.item() / N:.3f}")
