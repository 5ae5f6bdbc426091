from torch.utils.data import DataLoader, TensorDataset


class Trainer:
    def __init__(self, model, opt):
        self.model, self.opt, self.history = model, opt, {"loss": []}

    def step(self, batch):
        rows, wanted = batch
        loss = F.mse_loss(self.model(rows), wanted)
        self.opt.zero_grad()
        loss.backward()
        self.opt.step()
        return {"loss": loss.item(), "n": len(rows)}

    def fit(self, loader, epochs):
        for epoch in range(epochs):
            total, n, all_of_them = 0.0, 0, []
            for i, batch in enumerate(loader, 1):
                out = self.step(batch)
                total, n = total + out["loss"] * out["n"], n + out["n"]
                all_of_them.append(out["loss"])
                self.last = batch
            self.history["loss"].append(total / n)
            print(f"{i} {total / n:.4f} {max(all_of_them):.4f} {self.last[1].sum().item():.4f}")


Trainer(model, opt).fit(DataLoader(TensorDataset(x, y), batch_size=4, shuffle=True), 4)
