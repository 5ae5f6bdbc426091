history = []
for step in range(N):
    opt.zero_grad()
    loss = F.mse_loss(model(x), y)
    loss.backward()
    opt.step()
    history.append(loss.item())
print([f"{v:.4f}" for v in history])
