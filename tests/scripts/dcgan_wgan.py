import torch, torch.nn as nn

torch.manual_seed(0)


class Generator(nn.Module):
    def __init__(self, nz, ngf, nc):
        super().__init__()
        self.main = nn.Sequential(
            nn.ConvTranspose2d(nz, ngf * 2, 4, 1, 0, bias=False),
            nn.BatchNorm2d(ngf * 2),
            nn.ReLU(True),
            nn.ConvTranspose2d(ngf * 2, ngf, 4, 2, 1, bias=False),
            nn.BatchNorm2d(ngf),
            nn.ReLU(True),
            nn.ConvTranspose2d(ngf, nc, 3, 1, 1, bias=False),
            nn.Tanh(),
        )

    def forward(self, input):
        return self.main(input)


class Discriminator(nn.Module):
    def __init__(self, nc, ndf):
        super().__init__()
        self.main = nn.Sequential(
            nn.Conv2d(nc, ndf, 4, 2, 1, bias=False), nn.LeakyReLU(0.2, inplace=True), nn.Conv2d(ndf, 1, 4, 1, 0, bias=False), nn.Sigmoid()
        )

    def forward(self, input):
        return self.main(input).view(-1, 1).squeeze(1)


def weights_init(m):
    classname = m.__class__.__name__
    if classname.find("Conv") != -1:
        nn.init.normal_(m.weight.data, 0.0, 0.02)
    elif classname.find("BatchNorm") != -1:
        nn.init.normal_(m.weight.data, 1.0, 0.02)
        nn.init.constant_(m.bias.data, 0)


nz = 5
netG = Generator(nz, 4, 1)
netG.apply(weights_init)
print(netG)
netD = Discriminator(1, 4)
netD.apply(weights_init)
print(netD)
criterion = nn.BCELoss()
fixed_noise = torch.randn(4, nz, 1, 1)
real_label, fake_label = 1.0, 0.0
optD = torch.optim.Adam(netD.parameters(), lr=2e-4, betas=(0.5, 0.999))
optG = torch.optim.Adam(netG.parameters(), lr=2e-4, betas=(0.5, 0.999))
G_losses, D_losses = [], []
for i in range(3):
    netD.zero_grad()
    real = torch.rand(6, 1, 8, 8) * 2 - 1
    b = real.size(0)
    label = torch.full((b,), real_label, dtype=torch.float)
    output = netD(real).view(-1)
    errD_real = criterion(output, label)
    errD_real.backward()
    D_x = output.mean().item()
    noise = torch.randn(b, nz, 1, 1)
    fake = netG(noise)
    label.fill_(fake_label)
    output = netD(fake.detach()).view(-1)
    errD_fake = criterion(output, label)
    errD_fake.backward()
    D_G_z1 = output.mean().item()
    errD = errD_real + errD_fake
    optD.step()
    netG.zero_grad()
    label.fill_(real_label)
    output = netD(fake).view(-1)
    errG = criterion(output, label)
    errG.backward()
    D_G_z2 = output.mean().item()
    optG.step()
    print("[%d/%d]\tLoss_D: %.4f\tLoss_G: %.4f\tD(x): %.4f\tD(G(z)): %.4f / %.4f" % (i, 3, errD.item(), errG.item(), D_x, D_G_z1, D_G_z2))
    G_losses.append(errG.item())
    D_losses.append(errD.item())
with torch.no_grad():
    fake = netG(fixed_noise).detach().cpu()
print(fake.shape, fake.min() >= -1, fake[0, 0, 0])
# WGAN-GP
D = nn.Sequential(nn.Linear(2, 16), nn.LeakyReLU(0.2), nn.Linear(16, 1))
G = nn.Sequential(nn.Linear(2, 16), nn.ReLU(), nn.Linear(16, 2))
oD = torch.optim.Adam(D.parameters(), 1e-3, betas=(0.0, 0.9))
oG = torch.optim.Adam(G.parameters(), 1e-3, betas=(0.0, 0.9))


def gradient_penalty(D, real, fake):
    alpha = torch.rand(real.size(0), 1).expand_as(real)
    inter = (alpha * real + (1 - alpha) * fake).requires_grad_(True)
    d = D(inter)
    g = torch.autograd.grad(
        outputs=d, inputs=inter, grad_outputs=torch.ones_like(d), create_graph=True, retain_graph=True, only_inputs=True
    )[0]
    return ((g.norm(2, dim=1) - 1) ** 2).mean()


for it in range(3):
    for _ in range(2):
        real = torch.randn(8, 2) * 0.5 + 1
        fake = G(torch.randn(8, 2)).detach()
        gp = gradient_penalty(D, real, fake)
        loss = -D(real).mean() + D(fake).mean() + 10 * gp
        oD.zero_grad()
        loss.backward()
        oD.step()
    for p in D.parameters():
        p.requires_grad = False
    gl = -D(G(torch.randn(8, 2))).mean()
    oG.zero_grad()
    gl.backward()
    oG.step()
    for p in D.parameters():
        p.requires_grad_(True)
    print(it, f"{loss.item():.4f} {gp.item():.4f} {gl.item():.4f}")
one = torch.tensor(1.0)
mone = one * -1
D.zero_grad()
D(real).mean().backward(mone)
print(D[0].bias.grad)
