best, bad = float("inf"), 0
for step in range(N):
    opt.zero_grad()
    loss = F.mse_loss(model(x), y)
    loss.backward()
    opt.step()
    if loss.item() < best - 1e-6:
        best, bad = loss.item(), 0
    else:
        bad += 1
        if bad > 20:
            break
print(f"{best:.4f}")
