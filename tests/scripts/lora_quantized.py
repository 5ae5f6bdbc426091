import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.checkpoint import checkpoint
from torch.nn.parameter import Parameter

torch.manual_seed(0)


# LoRA, as peft users write it
class LoRALinear(nn.Module):
    def __init__(self, base: nn.Linear, r=2, alpha=4):
        super().__init__()
        self.base = base
        self.lora_A = nn.Parameter(torch.empty(r, base.in_features))
        self.lora_B = nn.Parameter(torch.zeros(base.out_features, r))
        nn.init.kaiming_uniform_(self.lora_A, a=5 ** 0.5)
        self.scaling = alpha / r
        for p in self.base.parameters():
            p.requires_grad_(False)

    def forward(self, x):
        return self.base(x) + (x @ self.lora_A.T @ self.lora_B.T) * self.scaling

    @torch.no_grad()
    def merge(self):
        self.base.weight += self.scaling * self.lora_B @ self.lora_A
        return self.base


def inject(module):
    for name, child in module.named_children():
        if isinstance(child, nn.Linear):
            setattr(module, name, LoRALinear(child))
        else:
            inject(child)


model = nn.Sequential(nn.Linear(4, 8), nn.GELU(), nn.Sequential(nn.Linear(8, 2)))
inject(model)
print(model)
trainable = [p for p in model.parameters() if p.requires_grad]
print(len(trainable), sum(p.numel() for p in trainable), sum(p.numel() for p in model.parameters()))
opt = torch.optim.AdamW(trainable, lr=0.05)
x, y = torch.randn(16, 4), torch.randint(0, 2, (16,))
for i in range(3):
    loss = F.cross_entropy(model(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(f"lora {loss.item():.4f}")
before = model(x)
model[0] = model[0].merge()
print(torch.allclose(before, model(x), atol=1e-5))


# Fake quantisation with a straight-through estimator
class FakeQuant(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, scale, zero_point, qmin, qmax):
        q = torch.clamp(torch.round(x / scale) + zero_point, qmin, qmax)
        ctx.save_for_backward(x, scale)
        ctx.bounds = (qmin, qmax, zero_point)
        return (q - zero_point) * scale

    @staticmethod
    def backward(ctx, g):
        x, scale = ctx.saved_tensors
        qmin, qmax, zp = ctx.bounds
        mask = ((x / scale + zp) >= qmin) & ((x / scale + zp) <= qmax)
        return g * mask.to(g.dtype), None, None, None, None


class QATLinear(nn.Linear):
    def __init__(self, *args, bits=8, **kwargs):
        super().__init__(*args, **kwargs)
        self.qmin, self.qmax = -(2 ** (bits - 1)), 2 ** (bits - 1) - 1
        self.register_buffer("scale", torch.tensor(1.0))

    def forward(self, x):
        with torch.no_grad():
            self.scale.copy_(self.weight.abs().max() / self.qmax)
        w = FakeQuant.apply(self.weight, self.scale, 0, self.qmin, self.qmax)
        return F.linear(x, w, self.bias)


q = nn.Sequential(QATLinear(4, 8, bits=4), nn.ReLU(), QATLinear(8, 2, bits=4))
opt = torch.optim.SGD(q.parameters(), lr=0.1)
for i in range(3):
    loss = F.cross_entropy(q(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(f"qat {loss.item():.4f} {q[0].scale.item():.4f}")
print(torch.fake_quantize_per_tensor_affine(torch.tensor([0.11, -0.26, 9.0]), 0.1, 0, -8, 7))

# Distillation
teacher, student = nn.Linear(4, 3), nn.Sequential(nn.Linear(4, 2), nn.Linear(2, 3))
opt = torch.optim.Adam(student.parameters(), lr=0.05)
T = 2.0
for i in range(3):
    with torch.no_grad():
        t = teacher(x)
    s = student(x)
    loss = F.kl_div(F.log_softmax(s / T, dim=1), F.softmax(t / T, dim=1), reduction="batchmean") * T * T
    loss = loss + 0.1 * nn.CrossEntropyLoss(label_smoothing=0.1)(s, y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(f"distill {loss.item():.4f}")


# Exponential moving average
class EMA:
    def __init__(self, model, decay):
        self.decay = decay
        self.shadow = {n: p.clone().detach() for n, p in model.named_parameters() if p.requires_grad}
        self.backup = {}

    def update(self, model):
        for n, p in model.named_parameters():
            if p.requires_grad:
                self.shadow[n].mul_(self.decay).add_(p.data, alpha=1 - self.decay)

    def apply(self, model):
        for n, p in model.named_parameters():
            self.backup[n] = p.data
            p.data = self.shadow[n]

    def restore(self, model):
        for n, p in model.named_parameters():
            p.data = self.backup[n]


ema = EMA(student, 0.9)
w = student[0].weight.data.clone()
with torch.no_grad():
    for p in student.parameters():
        p.add_(1.0)
ema.update(student)
ema.apply(student)
print((student[0].weight - w).mean())
ema.restore(student)
print((student[0].weight - w).mean())


# Checkpointing of a residual stack
class Res(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.a, self.b, self.norm = nn.Linear(n, n), nn.Linear(n, n), nn.LayerNorm(n)

    def forward(self, x):
        return x + self.b(F.relu(self.a(self.norm(x))))


stack = nn.ModuleList([Res(4) for _ in range(3)])
h = x.clone().requires_grad_()
out = h
for block in stack:
    out = checkpoint(block, out, use_reentrant=False)
out.pow(2).mean().backward()
plain = x.clone().requires_grad_()
out2 = plain
for block in stack:
    out2 = block(out2)
out2.pow(2).mean().backward()
print(torch.allclose(h.grad, plain.grad, atol=1e-6))


class UNet(nn.Module):
    def __init__(self, c=4):
        super().__init__()
        self.d1, self.d2 = self.block(1, c), self.block(c, 2 * c)
        self.up = nn.ConvTranspose2d(2 * c, c, kernel_size=2, stride=2)
        self.u1 = self.block(2 * c, c)
        self.head = nn.Conv2d(c, 1, 1)
        self.pool = nn.MaxPool2d(2)

    @staticmethod
    def block(i, o):
        return nn.Sequential(nn.Conv2d(i, o, 3, padding="same", bias=False), nn.BatchNorm2d(o), nn.ReLU(inplace=True))

    def forward(self, x):
        a = self.d1(x)
        b = self.d2(self.pool(a))
        return self.head(self.u1(torch.cat([a, self.up(b)], dim=1)))


def dice_loss(pred, target, smooth=1.0):
    pred = torch.sigmoid(pred).contiguous().view(-1)
    target = target.contiguous().view(-1)
    intersection = (pred * target).sum()
    return 1 - (2.0 * intersection + smooth) / (pred.sum() + target.sum() + smooth)


net = UNet()
opt = torch.optim.RMSprop(net.parameters(), lr=1e-3, momentum=0.9, weight_decay=1e-8, foreach=True)
sched = torch.optim.lr_scheduler.ReduceLROnPlateau(opt, "max", patience=0)
img = torch.rand(2, 1, 8, 8)
mask = (img > 0.5).float()
for i in range(3):
    out = net(img)
    loss = F.binary_cross_entropy_with_logits(out, mask) + dice_loss(out, mask)
    opt.zero_grad(set_to_none=True)
    loss.backward()
    nn.utils.clip_grad_value_(net.parameters(), 0.1)
    opt.step()
    sched.step(-loss.item())
    print(f"unet {loss.item():.4f} lr {opt.param_groups[0]['lr']:.0e}")
