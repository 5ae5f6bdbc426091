scaler = torch.amp.GradScaler("cpu", init_scale=2.0 ** 8, growth_interval=10)
for step in range(N):
    with torch.autocast("cpu", dtype=torch.bfloat16):
        out = model(x)
    loss = F.mse_loss(out.float(), y)
    opt.zero_grad(set_to_none=True)
    scaler.scale(loss).backward()
    scaler.unscale_(opt)
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    scaler.step(opt)
    scaler.update()
print(f"{loss.item():.2f}", scaler.get_scale())
