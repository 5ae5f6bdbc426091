from tqdm import tqdm

parts = x.split(2)
for epoch in range(2):
    total = 0.0
    with tqdm(parts, desc=str(epoch), disable=True) as bar:
        for step, rows in enumerate(bar):
            loss = F.mse_loss(model(rows), y[:2])
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item()
            bar.set_postfix(loss=f"{total / (step + 1):.4f}", lr=opt.param_groups[0]["lr"])
            bar.update(0)
    print(f"{total:.4f}")
