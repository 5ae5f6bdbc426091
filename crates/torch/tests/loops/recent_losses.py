from collections import deque

recent = deque(maxlen=5)
for step in range(N * 2):
    opt.zero_grad()
    loss = F.mse_loss(model(x), y)
    loss.backward()
    opt.step()
    recent.append(loss.item())
    if step % 16 == 15:
        print(f"{sum(recent) / len(recent):.4f}")
print(len(recent), [f"{v:.4f}" for v in recent])
