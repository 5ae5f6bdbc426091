import argparse
import os
import itertools
import math
import sys
import tempfile

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim
from torch.autograd import Variable, grad
from torch.utils.data import DataLoader
from torch.utils.tensorboard import SummaryWriter
from torchvision import datasets, transforms
from torchvision.utils import make_grid, save_image

parser = argparse.ArgumentParser()
parser.add_argument("--n_epochs", type=int, default=2, help="number of epochs of training")
parser.add_argument("--lr", type=float, default=0.0002)
parser.add_argument("--b1", type=float, default=0.5)
parser.add_argument("--latent_dim", type=int, default=8)
parser.add_argument("--img_size", type=int, default=8)
parser.add_argument("--channels", type=int, default=1)
opt = parser.parse_args([])
print(opt)
img_shape = (opt.channels, opt.img_size, opt.img_size)
cuda = True if torch.cuda.is_available() else False
torch.manual_seed(0)
np.random.seed(0)


class Generator(nn.Module):
    def __init__(self):
        super(Generator, self).__init__()

        def block(in_feat, out_feat, normalize=True):
            layers = [nn.Linear(in_feat, out_feat)]
            if normalize:
                layers.append(nn.BatchNorm1d(out_feat, 0.8))
            layers.append(nn.LeakyReLU(0.2, inplace=True))
            return layers

        self.model = nn.Sequential(*block(opt.latent_dim, 16, normalize=False), *block(16, 32), nn.Linear(32, int(np.prod(img_shape))), nn.Tanh())

    def forward(self, z):
        img = self.model(z)
        return img.view(img.size(0), *img_shape)


class Discriminator(nn.Module):
    def __init__(self):
        super().__init__()
        self.model = nn.Sequential(nn.utils.spectral_norm(nn.Linear(int(np.prod(img_shape)), 32)), nn.LeakyReLU(0.2, inplace=True), nn.Linear(32, 1))

    def forward(self, img):
        return self.model(img.view(img.size(0), -1))


def compute_gradient_penalty(D, real_samples, fake_samples):
    alpha = torch.FloatTensor(np.random.random((real_samples.size(0), 1, 1, 1)))
    interpolates = (alpha * real_samples + ((1 - alpha) * fake_samples)).requires_grad_(True)
    d_interpolates = D(interpolates)
    fake = Variable(torch.FloatTensor(real_samples.shape[0], 1).fill_(1.0), requires_grad=False)
    gradients = grad(outputs=d_interpolates, inputs=interpolates, grad_outputs=fake, create_graph=True, retain_graph=True, only_inputs=True)[0]
    gradients = gradients.view(gradients.size(0), -1)
    return ((gradients.norm(2, dim=1) - 1) ** 2).mean()


class Shapes(torch.utils.data.Dataset):
    def __init__(self, n, transform):
        rng = np.random.RandomState(1)
        self.x = (rng.rand(n, 8, 8) > 0.7).astype(np.uint8) * 255
        self.transform = transform

    def __len__(self):
        return len(self.x)

    def __getitem__(self, i):
        return self.transform(self.x[i]), 0


loader = DataLoader(Shapes(20, transforms.Compose([transforms.ToTensor(), transforms.Normalize([0.5], [0.5])])), batch_size=8, shuffle=True, drop_last=True)
G, D = Generator(), Discriminator()
og = optim.Adam(G.parameters(), lr=opt.lr, betas=(opt.b1, 0.999))
od = optim.Adam(D.parameters(), lr=opt.lr, betas=(opt.b1, 0.999))
Tensor = torch.cuda.FloatTensor if cuda else torch.FloatTensor
tmp = tempfile.mkdtemp()
writer = SummaryWriter(log_dir=os.path.join(tmp, "runs"))
batches_done = 0
for epoch in range(opt.n_epochs):
    for i, (imgs, _) in enumerate(loader):
        real_imgs = Variable(imgs.type(Tensor))
        od.zero_grad()
        z = Variable(Tensor(np.random.normal(0, 1, (imgs.shape[0], opt.latent_dim))))
        fake_imgs = G(z)
        d_loss = -torch.mean(D(real_imgs)) + torch.mean(D(fake_imgs.detach())) + 10 * compute_gradient_penalty(D, real_imgs.data, fake_imgs.data)
        d_loss.backward()
        od.step()
        og.zero_grad()
        g_loss = -torch.mean(D(G(z)))
        g_loss.backward()
        og.step()
        writer.add_scalar("loss/d", d_loss.item(), batches_done)
        writer.add_scalars("losses", {"d": d_loss.item(), "g": g_loss}, batches_done)
        batches_done += 1
    print("[Epoch %d/%d] [Batch %d/%d] [D loss: %.4f] [G loss: %.4f]" % (epoch, opt.n_epochs, i, len(loader), d_loss.item(), g_loss.item()))
    grid = make_grid(fake_imgs.data[:4], nrow=2, normalize=True)
    print(grid.shape, round(grid.mean().item(), 3))
    writer.add_image("fake", grid, epoch)
    writer.add_histogram("w", D.model[2].weight, epoch)
    save_image(fake_imgs.data[:4], os.path.join(tmp, f"{epoch}.png"), nrow=2, normalize=True)
writer.add_text("note", "done")
writer.add_hparams({"lr": 0.1}, {"loss": 1.0})
writer.flush()
writer.close()
print(sorted(f for f in os.listdir(tmp) if f.endswith("png")), len([f for f in os.listdir(os.path.join(tmp, "runs")) if f.startswith("events")]) >= 1)


class VAE(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(64, 32)
        self.fc21, self.fc22 = nn.Linear(32, 4), nn.Linear(32, 4)
        self.fc3, self.fc4 = nn.Linear(4, 32), nn.Linear(32, 64)

    def encode(self, x):
        h1 = F.relu(self.fc1(x))
        return self.fc21(h1), self.fc22(h1)

    def reparameterize(self, mu, logvar):
        std = torch.exp(0.5 * logvar)
        eps = torch.randn_like(std)
        return mu + eps * std

    def decode(self, z):
        return torch.sigmoid(self.fc4(F.relu(self.fc3(z))))

    def forward(self, x):
        mu, logvar = self.encode(x.view(-1, 64))
        return self.decode(self.reparameterize(mu, logvar)), mu, logvar


model = VAE().to("cpu")
optimizer = optim.Adam(model.parameters(), lr=1e-3)


def loss_function(recon_x, x, mu, logvar):
    BCE = F.binary_cross_entropy(recon_x, x.view(-1, 64), reduction="sum")
    return BCE + -0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp())


for epoch in range(1, 3):
    model.train()
    train_loss = 0
    for batch_idx, (data, _) in enumerate(loader):
        data = (data + 1) / 2
        optimizer.zero_grad()
        recon, mu, logvar = model(data)
        loss = loss_function(recon, data, mu, logvar)
        loss.backward()
        train_loss += loss.item()
        optimizer.step()
        if batch_idx % 2 == 0:
            print("Train Epoch: {} [{}/{} ({:.0f}%)]\tLoss: {:.4f}".format(epoch, batch_idx * len(data), len(loader.dataset), 100.0 * batch_idx / len(loader), loss.item() / len(data)))
    print("====> Epoch: {} Average loss: {:.4f}".format(epoch, train_loss / len(loader.dataset)))
