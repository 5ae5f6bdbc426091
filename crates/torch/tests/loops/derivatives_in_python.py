class Step(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.sign()

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return grad * (x.abs() < 1)


for step in range(N):
    loss = F.mse_loss(model[2](Step.apply(model[0](x))), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
print(f"{loss.item():.4f}")
