opt = torch.optim.Adam(model.parameters(), lr=0.01)
schedule = torch.optim.lr_scheduler.OneCycleLR(opt, 0.02, total_steps=N)
for step in range(N):
    opt.zero_grad()
    loss = F.mse_loss(model(x), y)
    loss.backward()
    opt.step()
    schedule.step()
print(f"{loss.item():.4f}", opt.param_groups[0]["betas"][0], schedule.get_last_lr()[0])
