for k in range(3):
    opt.zero_grad()
    F.mse_loss(model(x), y).backward()
    opt.step()
model.eval()
total, near, outs = 0.0, 0, []
with torch.no_grad():
    for i in range(N):
        out = model(x[i:i + 8])
        total += F.mse_loss(out, y[i:i + 8]).item()
        near += (out > y[i:i + 8]).sum().item()
        outs.append(out)
print(f"{total:.4f} {near} {torch.cat(outs).sum().item():.4f} {out.requires_grad}")
# Where gradients are on, the same loop is another one.
def losses(n):
    for i in range(n):
        loss = F.mse_loss(model(x[i:i + 4]), y[i:i + 4])
    return loss
with torch.inference_mode():
    print(losses(N).requires_grad)
loss = losses(N)
loss.backward()
print(loss.requires_grad, f"{model[0].weight.grad.sum().item():.4f}")
