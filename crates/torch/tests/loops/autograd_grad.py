w, b = torch.randn(4, 1, requires_grad=True), torch.zeros(1, requires_grad=True)
for step in range(N):
    loss = ((x @ w + b - y) ** 2).mean()
    dw, db = torch.autograd.grad(loss, (w, b))
    with torch.no_grad():
        w -= 0.1 * dw
        b -= 0.1 * db
print(f"{loss.item():.4f}")
