"""A generator learns to draw digits that a discriminator takes for real ones: Goodfellow et al., 2014.

    aludel run examples/digits_gan.py --epochs 30
"""

import argparse

import numpy as np
import torch
import torch.nn as nn

GLYPHS = """
.###. ..#.. .###. .###. ...#. ##### .###. ##### .###. .###.
#...# .##.. #...# #...# ..##. #.... #.... ....# #...# #...#
#..## ..#.. ....# ....# .#.#. ####. ####. ...#. #...# #...#
#.#.# ..#.. ...#. ..##. #..#. ....# #...# ..#.. .###. .####
##..# ..#.. ..#.. ....# ##### ....# #...# ..#.. #...# ....#
#...# ..#.. .#... #...# ...#. #...# #...# ..#.. #...# ....#
.###. .###. ##### .###. ...#. .###. .###. ..#.. .###. .###.
"""

parser = argparse.ArgumentParser()
parser.add_argument("--n_epochs", "--epochs", type=int, default=20, help="number of epochs of training")
parser.add_argument("--batch_size", type=int, default=64, help="size of the batches")
parser.add_argument("--lr", type=float, default=0.0005, help="adam: learning rate")
parser.add_argument("--b1", type=float, default=0.5, help="adam: decay of first order momentum of gradient")
parser.add_argument("--latent_dim", type=int, default=16, help="dimensionality of the latent space")
parser.add_argument("--count", type=int, default=1024, help="real images")
opt = parser.parse_args()

np.random.seed(0)
torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
rows = [line.split() for line in GLYPHS.strip().splitlines()]
glyphs = np.array([[[1.0 if c == "#" else -1.0 for c in row[d]] for row in rows] for d in range(10)], dtype=np.float32)
picked = glyphs[np.random.randint(0, 10, opt.count)]
real_data = torch.from_numpy(picked + 0.1 * np.random.randn(*picked.shape).astype(np.float32))


class Generator(nn.Module):
    def __init__(self):
        super().__init__()

        def block(in_feat, out_feat, normalize=True):
            layers = [nn.Linear(in_feat, out_feat)]
            if normalize:
                layers.append(nn.BatchNorm1d(out_feat, 0.8))
            layers.append(nn.LeakyReLU(0.2, inplace=True))
            return layers

        self.model = nn.Sequential(*block(opt.latent_dim, 64, normalize=False), *block(64, 128), nn.Linear(128, 35), nn.Tanh())

    def forward(self, z):
        return self.model(z).view(z.size(0), 7, 5)


class Discriminator(nn.Module):
    def __init__(self):
        super().__init__()
        self.model = nn.Sequential(
            nn.Linear(35, 128), nn.LeakyReLU(0.2, inplace=True), nn.Linear(128, 64), nn.LeakyReLU(0.2, inplace=True),
            nn.Linear(64, 1), nn.Sigmoid(),
        )

    def forward(self, img):
        return self.model(img.view(img.size(0), -1))


adversarial_loss = nn.BCELoss()
generator, discriminator = Generator().to(device), Discriminator().to(device)
optimizer_G = torch.optim.Adam(generator.parameters(), lr=opt.lr, betas=(opt.b1, 0.999))
optimizer_D = torch.optim.Adam(discriminator.parameters(), lr=opt.lr, betas=(opt.b1, 0.999))
dataloader = torch.utils.data.DataLoader(real_data, batch_size=opt.batch_size, shuffle=True)

for epoch in range(opt.n_epochs):
    for i, imgs in enumerate(dataloader):
        valid = torch.ones(imgs.size(0), 1, device=device)
        fake = torch.zeros(imgs.size(0), 1, device=device)
        real_imgs = imgs.to(device)

        optimizer_G.zero_grad()
        z = torch.from_numpy(np.random.normal(0, 1, (imgs.shape[0], opt.latent_dim)).astype(np.float32)).to(device)
        gen_imgs = generator(z)
        g_loss = adversarial_loss(discriminator(gen_imgs), valid)
        g_loss.backward()
        optimizer_G.step()

        optimizer_D.zero_grad()
        real_loss = adversarial_loss(discriminator(real_imgs), valid)
        fake_loss = adversarial_loss(discriminator(gen_imgs.detach()), fake)
        d_loss = (real_loss + fake_loss) / 2
        d_loss.backward()
        optimizer_D.step()
    print("[Epoch %d/%d] [D loss: %f] [G loss: %f]" % (epoch, opt.n_epochs, d_loss.item(), g_loss.item()))

generator.eval()
with torch.no_grad():
    image = generator(torch.randn(1, opt.latent_dim).to(device))[0].cpu().numpy()
for row in image:
    print("".join("#" if v > 0 else "." for v in row))
