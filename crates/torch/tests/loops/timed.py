import time

begun, spent = time.time(), 0.0
for step in range(N):
    start = time.perf_counter()
    loss = F.mse_loss(model(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    spent += time.perf_counter() - start
    if time.time() - begun > 1e6:
        break
print(step, f"{loss.item():.4f}", 0.0 <= spent < 1e6)
