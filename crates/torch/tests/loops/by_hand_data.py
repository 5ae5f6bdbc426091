w, b = torch.randn(4, 1, requires_grad=True), torch.zeros(1, requires_grad=True)
for step in range(N):
    loss = ((x @ w + b - y) ** 2).mean()
    loss.backward()
    for p in (w, b):
        p.data -= 0.1 * p.grad.data
        p.grad = None
print(f"{loss.item():.4f}")
