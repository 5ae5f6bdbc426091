"""A variational autoencoder of points on a spiral: Kingma and Welling, 2013.

    aludel run examples/vae.py --epochs 200
"""

import argparse
import math

import torch
from torch import nn, optim
from torch.nn import functional as F
from torch.utils.data import DataLoader

parser = argparse.ArgumentParser(description="VAE")
parser.add_argument("--batch-size", type=int, default=64)
parser.add_argument("--epochs", type=int, default=50)
parser.add_argument("--count", type=int, default=1024)
parser.add_argument("--seed", type=int, default=1)
parser.add_argument("--every", type=int, default=10)
args = parser.parse_args()

torch.manual_seed(args.seed)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")


def spiral(count):
    t = torch.rand(count) * 3 * math.pi
    points = torch.stack([t * torch.cos(t), t * torch.sin(t)], dim=1) / (3 * math.pi)
    return points + 0.02 * torch.randn(count, 2)


class VAE(nn.Module):
    def __init__(self, hidden=32, latent=2):
        super().__init__()
        self.fc1 = nn.Linear(2, hidden)
        self.fc21 = nn.Linear(hidden, latent)
        self.fc22 = nn.Linear(hidden, latent)
        self.fc3 = nn.Linear(latent, hidden)
        self.fc4 = nn.Linear(hidden, 2)
        self.latent = latent

    def encode(self, x):
        h1 = torch.tanh(self.fc1(x))
        return self.fc21(h1), self.fc22(h1)

    def reparameterize(self, mu, logvar):
        std = torch.exp(0.5 * logvar)
        eps = torch.randn_like(std)
        return mu + eps * std

    def decode(self, z):
        return self.fc4(torch.tanh(self.fc3(z)))

    def forward(self, x):
        mu, logvar = self.encode(x)
        return self.decode(self.reparameterize(mu, logvar)), mu, logvar


def loss_function(recon_x, x, mu, logvar, scale=0.1):
    likelihood = F.mse_loss(recon_x, x, reduction="sum") / (2 * scale ** 2)
    kld = -0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp())
    return likelihood + kld, kld


model = VAE().to(device)
optimizer = optim.Adam(model.parameters(), lr=1e-2)
loader = DataLoader(spiral(args.count), batch_size=args.batch_size, shuffle=True)
for epoch in range(1, args.epochs + 1):
    model.train()
    total = divergence = 0.0
    for data in loader:
        data = data.to(device)
        optimizer.zero_grad()
        recon, mu, logvar = model(data)
        loss, kld = loss_function(recon, data, mu, logvar)
        loss.backward()
        total += loss.item()
        divergence += kld.item()
        optimizer.step()
    if epoch % args.every == 0 or epoch == args.epochs:
        n = len(loader.dataset)
        print(f"epoch {epoch:3d}  loss {total / n:.3f}  of it divergence {divergence / n:.3f}")

model.eval()
with torch.no_grad():
    sample = model.decode(torch.randn(5, model.latent).to(device)).cpu()
print(sample)
