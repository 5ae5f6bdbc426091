import torch
import torch.nn as nn

torch.manual_seed(11)
G = nn.Sequential(nn.Linear(2, 8), nn.LeakyReLU(0.2), nn.Linear(8, 2))
D = nn.Sequential(nn.Linear(2, 8), nn.LeakyReLU(0.2), nn.Linear(8, 1), nn.Sigmoid())
bce = nn.BCELoss()
opt_g = torch.optim.Adam(G.parameters(), lr=0.01, betas=(0.5, 0.999))
opt_d = torch.optim.Adam(D.parameters(), lr=0.01, betas=(0.5, 0.999))
for i in range(8):
    real = torch.randn(16, 2) * 0.5 + 2
    ones, zeros = torch.ones(16, 1), torch.zeros(16, 1)
    fake = G(torch.randn(16, 2))
    opt_d.zero_grad()
    loss_d = bce(D(real), ones) + bce(D(fake.detach()), zeros)
    loss_d.backward()
    opt_d.step()
    opt_g.zero_grad()
    loss_g = bce(D(fake), ones)
    loss_g.backward()
    opt_g.step()
    print(f"[{i}] D {loss_d.item():.4f} G {loss_g:.4f}")


class VAE(nn.Module):
    def __init__(self):
        super().__init__()
        self.enc, self.mu, self.logvar, self.dec = nn.Linear(4, 8), nn.Linear(8, 2), nn.Linear(8, 2), nn.Linear(2, 4)

    def forward(self, x):
        h = torch.relu(self.enc(x))
        mu, logvar = self.mu(h), self.logvar(h)
        z = mu + torch.exp(0.5 * logvar) * torch.randn_like(mu)
        return self.dec(z), mu, logvar


vae = VAE()
opt = torch.optim.RMSprop(vae.parameters(), lr=1e-2)
x = torch.rand(10, 4)
for _ in range(5):
    out, mu, logvar = vae(x)
    kl = -0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp())
    loss = nn.functional.mse_loss(out, x, reduction="sum") + kl
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(f"{loss.item():.4f} {kl.item():.4f}")
w = torch.randn(3, requires_grad=True)
for i in range(3):
    y = ((w - 1) ** 2).sum()
    y.backward()
    with torch.no_grad():
        w -= 0.1 * w.grad
        w.grad.zero_()
    print(w.detach(), y.item())
