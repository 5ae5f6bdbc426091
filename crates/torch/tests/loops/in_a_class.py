class Trainer:
    def __init__(self):
        self.losses = []
    def fit(self, steps):
        self.model = model
        for self.step in range(steps):
            opt.zero_grad()
            loss = F.mse_loss(self.model(x), y)
            loss.backward()
            opt.step()
            self.losses.append(loss.detach())
trainer = Trainer()
trainer.fit(N)
print(f"{torch.stack(trainer.losses[:6]).sum().item():.3f}")
