for step in range(N):
    opt.zero_grad()
    first = F.mse_loss(model(x[:16]), y[:16])
    first.backward()
    second = F.l1_loss(model(x[16:]), y[16:])
    second.backward()
    both = first + second
    opt.step()
    if step % 8 == 0:
        print(f"{both.item():.4f}", both.requires_grad)
try:
    both.backward()
except RuntimeError as error:
    print(str(error)[:47])
