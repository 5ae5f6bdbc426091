import torch, torch.nn as nn, torch.nn.functional as F, copy, math, random
from collections import deque, namedtuple, OrderedDict, defaultdict

torch.manual_seed(0)
random.seed(0)


class LoRALinear(nn.Module):
    def __init__(self, base, r=4, alpha=8, dropout=0.0):
        super().__init__()
        self.base = base
        for p in self.base.parameters():
            p.requires_grad = False
        self.lora_A = nn.Parameter(torch.empty(r, base.in_features))
        self.lora_B = nn.Parameter(torch.zeros(base.out_features, r))
        nn.init.kaiming_uniform_(self.lora_A, a=math.sqrt(5))
        self.scaling = alpha / r
        self.dropout = nn.Dropout(dropout)

    def forward(self, x):
        return self.base(x) + (self.dropout(x) @ self.lora_A.T @ self.lora_B.T) * self.scaling

    @torch.no_grad()
    def merge(self):
        self.base.weight += self.scaling * self.lora_B @ self.lora_A

    def extra_repr(self):
        return f"r={self.lora_A.shape[0]}, scaling={self.scaling}"


def inject(model, r):
    for name, child in model.named_children():
        if isinstance(child, nn.Linear):
            setattr(model, name, LoRALinear(child, r))
        else:
            inject(child, r)


m = nn.Sequential(OrderedDict([("fc1", nn.Linear(6, 8)), ("act", nn.ReLU()), ("fc2", nn.Linear(8, 3))]))
inject(m, 2)
print(m)
tr = sum(p.numel() for p in m.parameters() if p.requires_grad)
to = sum(p.numel() for p in m.parameters())
print(f"trainable params: {tr} || all params: {to} || trainable%: {100 * tr / to:.4f}")
opt = torch.optim.AdamW(filter(lambda p: p.requires_grad, m.parameters()), lr=1e-2)
x, y = torch.randn(10, 6), torch.randint(0, 3, (10,))
for _ in range(3):
    l = F.cross_entropy(m(x), y)
    opt.zero_grad()
    l.backward()
    opt.step()
a = m(x)
m.fc1.merge()
print(l.item(), (m(x) - a).abs().max() > 0, m.fc1.base.weight.grad, {k: v for k, v in m.state_dict().items() if "lora" in k}.keys())
# distillation
teacher = nn.Sequential(nn.Linear(6, 32), nn.ReLU(), nn.Linear(32, 3)).eval()
student = nn.Linear(6, 3)
so = torch.optim.SGD(student.parameters(), 0.1)


def kd(s, t, y, T=4.0, a=0.5):
    return F.kl_div(F.log_softmax(s / T, 1), F.softmax(t / T, 1), reduction="batchmean") * T * T * a + F.cross_entropy(s, y) * (1 - a)


for i in range(3):
    with torch.no_grad():
        t = teacher(x)
    l = kd(student(x), t, y)
    so.zero_grad()
    l.backward()
    so.step()
    print("kd", f"{l:.4f}")


# EMA, SWA
class EMA:
    def __init__(self, model, decay):
        self.module = copy.deepcopy(model).eval()
        self.decay = decay
        [p.requires_grad_(False) for p in self.module.parameters()]

    @torch.no_grad()
    def update(self, model):
        msd = model.state_dict()
        for k, v in self.module.state_dict().items():
            if v.dtype.is_floating_point:
                v.copy_(v * self.decay + (1 - self.decay) * msd[k].detach())
            else:
                v.copy_(msd[k])


net = nn.Sequential(nn.Linear(6, 4), nn.BatchNorm1d(4), nn.ReLU(), nn.Linear(4, 3))
e = EMA(net, 0.9)
o = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
from torch.optim.swa_utils import AveragedModel, SWALR, update_bn, get_ema_multi_avg_fn

swa = AveragedModel(net)
ss = SWALR(o, swa_lr=0.05, anneal_epochs=2)
ema2 = AveragedModel(net, multi_avg_fn=get_ema_multi_avg_fn(0.9))
for i in range(4):
    l = F.cross_entropy(net(x), y)
    o.zero_grad()
    l.backward()
    o.step()
    e.update(net)
    ema2.update_parameters(net)
    if i >= 1:
        swa.update_parameters(net)
        ss.step()
    print(i, f"{l.item():.4f}", o.param_groups[0]["lr"])
update_bn([x], swa)
print(swa.n_averaged, swa(x)[0], e.module[0].bias, ema2.module[0].bias)


# mixup / cutmix
def mixup(x, y, alpha=1.0):
    lam = random.betavariate(alpha, alpha) if alpha > 0 else 1
    idx = torch.randperm(x.size(0))
    return lam * x + (1 - lam) * x[idx, :], y, y[idx], lam


mx, ya, yb, lam = mixup(x, y)
print((lam * F.cross_entropy(net(mx), ya) + (1 - lam) * F.cross_entropy(net(mx), yb)).item())
img = torch.zeros(2, 1, 4, 4)
img[0] = 1
img[:, :, 1:3, 1:3] = img.flip(0)[:, :, 1:3, 1:3].clone()
print(img[:, 0])


class FocalLoss(nn.Module):
    def __init__(self, alpha=0.25, gamma=2.0, reduction="mean"):
        super().__init__()
        self.alpha, self.gamma, self.reduction = alpha, gamma, reduction

    def forward(self, i, t):
        ce = F.cross_entropy(i, t, reduction="none")
        pt = torch.exp(-ce)
        f = self.alpha * (1 - pt) ** self.gamma * ce
        return f.mean() if self.reduction == "mean" else f.sum() if self.reduction == "sum" else f


print(FocalLoss()(net(x), y), FocalLoss(reduction="none")(net(x), y)[:2].detach())
