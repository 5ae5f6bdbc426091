import torch, torch.nn as nn, torch.nn.functional as F


class DoubleConv(nn.Module):
    def __init__(self, i, o, mid=None):
        super().__init__()
        mid = mid or o
        self.double_conv = nn.Sequential(
            nn.Conv2d(i, mid, 3, padding=1, bias=False),
            nn.BatchNorm2d(mid),
            nn.ReLU(inplace=True),
            nn.Conv2d(mid, o, 3, padding=1, bias=False),
            nn.BatchNorm2d(o),
            nn.ReLU(inplace=True),
        )

    def forward(self, x):
        return self.double_conv(x)


class Down(nn.Module):
    def __init__(self, i, o):
        super().__init__()
        self.maxpool_conv = nn.Sequential(nn.MaxPool2d(2), DoubleConv(i, o))

    def forward(self, x):
        return self.maxpool_conv(x)


class Up(nn.Module):
    def __init__(self, i, o, bilinear=True):
        super().__init__()
        if bilinear:
            self.up = nn.Upsample(scale_factor=2, mode="bilinear", align_corners=True)
            self.conv = DoubleConv(i, o, i // 2)
        else:
            self.up = nn.ConvTranspose2d(i, i // 2, kernel_size=2, stride=2)
            self.conv = DoubleConv(i, o)

    def forward(self, x1, x2):
        x1 = self.up(x1)
        dy = x2.size()[2] - x1.size()[2]
        dx = x2.size()[3] - x1.size()[3]
        x1 = F.pad(x1, [dx // 2, dx - dx // 2, dy // 2, dy - dy // 2])
        return self.conv(torch.cat([x2, x1], dim=1))


class UNet(nn.Module):
    def __init__(self, n_channels, n_classes, bilinear=False):
        super().__init__()
        f = 2 if bilinear else 1
        self.inc = DoubleConv(n_channels, 4)
        self.down1 = Down(4, 8)
        self.down2 = Down(8, 16 // f)
        self.up1 = Up(16, 8 // f, bilinear)
        self.up2 = Up(8, 4, bilinear)
        self.outc = nn.Conv2d(4, n_classes, 1)

    def forward(self, x):
        a = self.inc(x)
        b = self.down1(a)
        c = self.down2(b)
        return self.outc(self.up2(self.up1(c, b), a))


def dice_loss(logits, target, eps=1e-6):
    p = torch.sigmoid(logits)
    inter = (p * target).sum(dim=(2, 3))
    union = p.sum(dim=(2, 3)) + target.sum(dim=(2, 3))
    return 1 - ((2 * inter + eps) / (union + eps)).mean()


for bil in (True, False):
    torch.manual_seed(1)
    m = UNet(1, 1, bil)
    x = torch.rand(2, 1, 10, 10)
    t = (x > 0.5).float()
    opt = torch.optim.RMSprop(m.parameters(), lr=1e-2, momentum=0.9, weight_decay=1e-8)
    for i in range(3):
        opt.zero_grad()
        o = m(x)
        loss = F.binary_cross_entropy_with_logits(o, t) + dice_loss(o, t)
        loss.backward()
        opt.step()
        print(bil, i, f"{loss.item():.4f}")
    print(o.shape, sum(p.numel() for p in m.parameters()))
print(m.up1)
iou = ((o.sigmoid() > 0.5) & t.bool()).sum().float() / ((o.sigmoid() > 0.5) | t.bool()).sum().clamp(min=1)
print("iou %.2f" % iou)
