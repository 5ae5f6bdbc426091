for epoch in range(N // 3):
    for i in range(0, 24, 8):
        opt.zero_grad()
        loss = F.mse_loss(model(x[i:i + 8]), y[i:i + 8])
        loss.backward()
        opt.step()
print(f"{loss.item():.4f}")
