for epoch in range(N // 2):
    model.train()
    for k in range(2):
        opt.zero_grad()
        loss = F.mse_loss(model(x), y)
        loss.backward()
        opt.step()
    model.eval()
    with torch.no_grad():
        held = F.mse_loss(model(x[:8]), y[:8]).item()
print(f"{held:.4f}")
