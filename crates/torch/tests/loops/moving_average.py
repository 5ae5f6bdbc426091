import copy
average = copy.deepcopy(model)
for step in range(N):
    opt.zero_grad()
    loss = F.mse_loss(model(x), y)
    loss.backward()
    opt.step()
    with torch.no_grad():
        for a, p in zip(average.parameters(), model.parameters()):
            a.mul_(0.9).add_(p, alpha=0.1)
print(f"{F.mse_loss(average(x), y).item():.4f}")
