for step in range(N):
    opt.zero_grad()
    loss = F.mse_loss(model(x), y)
    loss.backward()
    opt.step()
    if step % 3 == 0:
        print(f"step {step}: loss {loss.item():.4f}")
