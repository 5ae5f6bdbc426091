import numpy as np

losses = []
for step in range(N * 2):
    opt.zero_grad()
    loss = F.mse_loss(model(x), y)
    loss.backward()
    opt.step()
    losses.append(loss.item())
    if step % 12 == 0:
        print(step, f"{np.mean(losses[-10:]):.4f}")
print(f"{np.array(losses).min():.4f}")
