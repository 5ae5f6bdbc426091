for step in range(N // 2):
    opt.zero_grad()
    for part in range(2):
        loss = F.mse_loss(model(x[part * 16:part * 16 + 16]), y[part * 16:part * 16 + 16]) / 2
        loss.backward()
    opt.step()
print(f"{loss.item():.4f}")
