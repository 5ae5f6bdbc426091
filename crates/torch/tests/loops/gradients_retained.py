sizes = []
for step in range(N):
    h = model[0](x)
    h.retain_grad()
    loss = F.mse_loss(model[2](torch.tanh(h)), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    sizes.append(h.grad.abs().mean().item())
print(f"{loss.item():.4f} {sizes[-1]:.5f}", len(sizes))
