class Momentum(torch.optim.Optimizer):
    def __init__(self, params, lr):
        super().__init__(params, dict(lr=lr))
    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            for p in group["params"]:
                state = self.state[p]
                if not state:
                    state["n"], state["m"] = 0, torch.zeros_like(p)
                state["n"] += 1
                state["m"].mul_(0.9).add_(p.grad, alpha=0.1)
                p.add_(state["m"], alpha=-group["lr"] / (1 - 0.9 ** state["n"]))
opt = Momentum(model.parameters(), 0.05)
for step in range(N):
    opt.zero_grad()
    loss = F.mse_loss(model(x), y)
    loss.backward()
    opt.step()
print(f"{loss.item():.4f}")
