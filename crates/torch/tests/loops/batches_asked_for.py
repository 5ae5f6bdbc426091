def batches():
    while True:
        for at in torch.randperm(32).split(8):
            yield x[at], y[at]


stream = batches()
for step in range(N * 2):
    rows, wanted = next(stream)
    opt.zero_grad()
    loss = F.mse_loss(model(rows), wanted)
    loss.backward()
    opt.step()
    if step % 12 == 0:
        print(f"{loss.item():.4f}")
