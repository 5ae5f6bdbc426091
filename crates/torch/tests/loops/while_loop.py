step = 0
while step < N:
    opt.zero_grad()
    loss = F.mse_loss(model(x), y)
    loss.backward()
    opt.step()
    step += 1
print(f"{loss.item():.4f}")
