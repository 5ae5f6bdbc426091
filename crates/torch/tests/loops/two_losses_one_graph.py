for step in range(N):
    h = model[1](model[0](x))
    first, second = F.mse_loss(model[2](h), y), (h ** 2).mean()
    opt.zero_grad()
    first.backward(retain_graph=True)
    second.backward()
    opt.step()
print(f"{first.item():.4f} {second.item():.4f}")
