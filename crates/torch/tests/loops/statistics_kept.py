# What makemore keeps of each step.
W, b = torch.randn(4, 8), torch.zeros(8)
V = torch.randn(8, 1) * 0.1
parameters = [W, b, V]
for p in parameters:
    p.requires_grad = True
lossi, ud = [], []
mean = torch.zeros(1, 8)
g = torch.Generator().manual_seed(3)
for i in range(N):
    ix = torch.randint(0, x.shape[0], (16,), generator=g)
    h = x[ix] @ W + b
    with torch.no_grad():
        mean = 0.99 * mean + 0.01 * h.mean(0, keepdim=True)
    loss = F.mse_loss(torch.tanh(h - h.mean(0, keepdim=True)) @ V, y[ix])
    for p in parameters:
        p.grad = None
    loss.backward()
    lr = 0.1 if i < 12 else 0.01
    for p in parameters:
        p.data += -lr * p.grad
    lossi.append(loss.log10().item())
    with torch.no_grad():
        ud.append([((lr * p.grad).std() / p.data.std()).log10().item() for p in parameters])
print(f"{lossi[-1]:.4f} {ud[-1][0]:.4f}", len(ud), f"{mean.sum().item():.4f}")
