import torch
from torch import nn
import torch.nn.functional as F
from einops import rearrange
from einops.layers.torch import Rearrange

torch.manual_seed(0)


class DoubleConv(nn.Sequential):
    def __init__(self, a, b):
        super().__init__(nn.Conv2d(a, b, 3, padding=1, bias=False), nn.BatchNorm2d(b), nn.ReLU(inplace=True),
                         nn.Conv2d(b, b, 3, padding=1, bias=False), nn.BatchNorm2d(b), nn.ReLU(inplace=True))


class UNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.down1, self.down2, self.bottom = DoubleConv(1, 4), DoubleConv(4, 8), DoubleConv(8, 16)
        self.up2, self.conv2 = nn.ConvTranspose2d(16, 8, 2, stride=2), DoubleConv(16, 8)
        self.up1, self.conv1 = nn.Upsample(scale_factor=2, mode="bilinear", align_corners=True), DoubleConv(12, 4)
        self.out = nn.Conv2d(4, 2, kernel_size=1)

    def forward(self, x):
        a = self.down1(x)
        b = self.down2(F.max_pool2d(a, 2))
        x = self.bottom(F.max_pool2d(b, 2))
        x = self.conv2(torch.cat([self.up2(x), b], dim=1))
        return self.out(self.conv1(torch.cat([self.up1(x), a], dim=1)))


class SqueezeExcite(nn.Module):
    def __init__(self, c, r=2):
        super().__init__()
        self.fc = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Conv2d(c, c // r, 1), nn.SiLU(), nn.Conv2d(c // r, c, 1), nn.Sigmoid())

    def forward(self, x):
        return x * self.fc(x)


class Mixer(nn.Module):
    def __init__(self, patches, dim):
        super().__init__()
        self.net = nn.Sequential(Rearrange("b c (h p) (w q) -> b (h w) (p q c)", p=4, q=4), nn.Linear(16, dim), nn.LayerNorm(dim))
        self.tokens, self.channels = nn.Linear(patches, patches), nn.Linear(dim, dim)

    def forward(self, x):
        x = self.net(x)
        x = x + rearrange(self.tokens(rearrange(x, "b n d -> b d n")), "b d n -> b n d")
        return (x + F.gelu(self.channels(x))).mean(dim=1)


x = torch.randn(2, 1, 8, 8)
target = (x[:, 0] > 0).long()
net = UNet()
optimizer = torch.optim.RMSprop(net.parameters(), lr=1e-3, weight_decay=1e-8, momentum=0.9)
for step in range(3):
    loss = F.cross_entropy(net(x), target)
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    nn.utils.clip_grad_value_(net.parameters(), 0.5)
    optimizer.step()
    print(f"unet {loss.item():.3f}")
depthwise = nn.Sequential(nn.Conv2d(1, 8, 3, stride=2, padding=1), nn.Conv2d(8, 8, 3, padding=1, groups=8), SqueezeExcite(8), nn.Hardswish(),
                          nn.PixelShuffle(2), nn.ReflectionPad2d(1), nn.Conv2d(2, 4, 3, padding="same", padding_mode="reflect"))
print(depthwise(x).shape, f"{depthwise(x).sum().item():.4f}")
mixer = Mixer(4, 6)
print(mixer(x).detach())
theta = torch.tensor([[[0.8, 0.2, 0.1], [-0.2, 0.9, 0.0]]]).repeat(2, 1, 1)
grid = F.affine_grid(theta, x.size(), align_corners=False)
print(F.grid_sample(x, grid, align_corners=False).sum().item(), F.interpolate(x, scale_factor=0.5, mode="area").sum().item())
patches = F.unfold(x, kernel_size=4, stride=4)
print(patches.shape, torch.allclose(F.fold(patches, (8, 8), kernel_size=4, stride=4), x))
style = net.down1(x).flatten(2)
gram = torch.bmm(style, style.transpose(1, 2)) / style.shape[-1]
print(gram.shape, f"{F.mse_loss(gram[0], gram[1]).item():.4f}")
