scheduler = torch.optim.lr_scheduler.LambdaLR(opt, lambda k: 1 / (1 + 0.1 * k))
for step in range(N):
    opt.zero_grad()
    loss = F.mse_loss(model(x), y)
    loss.backward()
    opt.step()
    scheduler.step()
print(f"{loss.item():.4f} {scheduler.get_last_lr()[0]:.5f}")
