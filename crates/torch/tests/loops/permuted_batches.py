for epoch in range(N // 3):
    order = torch.randperm(24)
    for i in range(0, 24, 8):
        rows = order[i:i + 8]
        opt.zero_grad()
        loss = F.mse_loss(model(x[rows]), y[rows])
        loss.backward()
        opt.step()
print(f"{loss.item():.4f}")
