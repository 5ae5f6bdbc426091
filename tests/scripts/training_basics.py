import copy
import math
import os
import random
import time
from collections import Counter, defaultdict

import numpy as np
import torch
from torch import nn, optim
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset, Subset, TensorDataset, random_split


def set_seed(seed=42):
    random.seed(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)
    torch.cuda.manual_seed_all(seed)
    torch.backends.cudnn.deterministic = True
    torch.backends.cudnn.benchmark = False
    os.environ["PYTHONHASHSEED"] = str(seed)


set_seed()
# polynomial regression from scratch
x = torch.linspace(-math.pi, math.pi, 200)
y = torch.sin(x)
a, b, c, d = (torch.randn((), requires_grad=True) for _ in range(4))
for t in range(4):
    y_pred = a + b * x + c * x ** 2 + d * x ** 3
    loss = (y_pred - y).pow(2).sum()
    if t % 2 == 1:
        print(t, round(loss.item(), 2))
    loss.backward()
    with torch.no_grad():
        for p in (a, b, c, d):
            p -= 1e-6 * p.grad
            p.grad = None
print(f"Result: y = {a.item():.3f} + {b.item():.3f} x + {c.item():.3f} x^2 + {d.item():.3f} x^3")
p = torch.tensor([1, 2, 3])
xx = x.unsqueeze(-1).pow(p)
model = torch.nn.Sequential(torch.nn.Linear(3, 1), torch.nn.Flatten(0, 1))
loss_fn = torch.nn.MSELoss(reduction="sum")
optimizer = torch.optim.RMSprop(model.parameters(), lr=1e-3)
for t in range(3):
    loss = loss_fn(model(xx), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(round(loss.item(), 2), model[0].weight[:, 0].item().__class__.__name__)


class LegendrePolynomial3(torch.autograd.Function):
    @staticmethod
    def forward(ctx, input):
        ctx.save_for_backward(input)
        return 0.5 * (5 * input ** 3 - 3 * input)

    @staticmethod
    def backward(ctx, grad_output):
        (input,) = ctx.saved_tensors
        return grad_output * 1.5 * (5 * input ** 2 - 1)


P3 = LegendrePolynomial3.apply
w = torch.full((), 0.3, requires_grad=True)
P3(w * x).sum().backward()
print(w.grad.abs() < 1e-3)

# train / validate with early stopping, checkpoints, k folds
X = torch.randn(60, 5)
Y = (X[:, 0] * X[:, 1] > 0).long()


class EarlyStopping:
    def __init__(self, patience=2, delta=0.0):
        self.patience, self.delta, self.best, self.count, self.stop = patience, delta, None, 0, False

    def __call__(self, loss):
        if self.best is None or loss < self.best - self.delta:
            self.best, self.count = loss, 0
        else:
            self.count += 1
            self.stop = self.count >= self.patience


class MLP(nn.Module):
    def __init__(self, sizes, dropout=0.1):
        super().__init__()
        layers = []
        for i, o in zip(sizes[:-2], sizes[1:-1]):
            layers += [nn.Linear(i, o), nn.BatchNorm1d(o), nn.ReLU(), nn.Dropout(dropout)]
        self.body = nn.Sequential(*layers)
        self.head = nn.Linear(sizes[-2], sizes[-1])
        self._init()

    def _init(self):
        for m in self.modules():
            if isinstance(m, nn.Linear):
                nn.init.kaiming_normal_(m.weight, nonlinearity="relu")
                nn.init.zeros_(m.bias)

    def forward(self, x):
        return self.head(self.body(x))


def epoch(model, loader, opt=None):
    model.train(opt is not None)
    total, correct, n = 0.0, 0, 0
    with torch.set_grad_enabled(opt is not None):
        for xb, yb in loader:
            out = model(xb)
            loss = F.cross_entropy(out, yb)
            if opt:
                opt.zero_grad()
                loss.backward()
                opt.step()
            total += loss.item() * len(yb)
            correct += (out.argmax(1) == yb).sum().item()
            n += len(yb)
    return total / n, correct / n


folds = torch.arange(60).chunk(3)
scores = []
for k, val in enumerate(folds):
    train = torch.cat([f for i, f in enumerate(folds) if i != k])
    tl = DataLoader(Subset(TensorDataset(X, Y), train.tolist()), batch_size=16, shuffle=True)
    vl = DataLoader(Subset(TensorDataset(X, Y), val.tolist()), batch_size=32)
    net = MLP([5, 16, 8, 2])
    opt = optim.SGD(net.parameters(), lr=5e-2, momentum=0.9, weight_decay=1e-2)
    stopper = EarlyStopping()
    for e in range(4):
        tr = epoch(net, tl, opt)
        va = epoch(net, vl)
        stopper(va[0])
        if stopper.stop:
            break
    scores.append(va[1])
    print(f"fold {k} epoch {e} train {tr[0]:.4f} val {va[0]:.4f} acc {va[1]:.2f}")
print(f"{np.mean(scores):.3f} ± {np.std(scores):.3f}")
checkpoint = {"epoch": e, "model": net.state_dict(), "opt": opt.state_dict(), "rng": torch.get_rng_state(), "best": stopper.best}
import io
f = io.BytesIO()
torch.save(checkpoint, f)
f.seek(0)
loaded = torch.load(f, map_location="cpu", weights_only=True)
net2, opt2 = MLP([5, 16, 8, 2]), None
net2.load_state_dict(loaded["model"])
opt2 = optim.SGD(net2.parameters(), lr=1.0)
opt2.load_state_dict(loaded["opt"])
torch.set_rng_state(loaded["rng"])
r2 = epoch(net2, tl, opt2)
torch.set_rng_state(checkpoint["rng"])
r1 = epoch(net, tl, opt)
print(r1 == r2, opt2.param_groups[0]["lr"], loaded["epoch"])
preds = net.eval()(X).argmax(1)
conf = torch.zeros(2, 2, dtype=torch.int64)
for t, p in zip(Y.view(-1), preds.view(-1)):
    conf[t.long(), p.long()] += 1
tp = conf.diag().float()
precision, recall = tp / conf.sum(0).clamp(min=1), tp / conf.sum(1).clamp(min=1)
print(conf, (2 * precision * recall / (precision + recall).clamp(min=1e-8)).mean())

# feature extraction and Grad-CAM by hooks
cnn = nn.Sequential(nn.Conv2d(1, 4, 3, padding=1), nn.ReLU(), nn.Conv2d(4, 6, 3, padding=1), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(6, 3))
acts, grads = {}, {}
h1 = cnn[2].register_forward_hook(lambda m, i, o: acts.__setitem__("c", o.detach()))
h2 = cnn[2].register_full_backward_hook(lambda m, gi, go: grads.__setitem__("c", go[0].detach()))
img = torch.rand(1, 1, 8, 8)
out = cnn(img)
out[0, out.argmax()].backward()
weights = grads["c"].mean(dim=(2, 3), keepdim=True)
cam = F.relu((weights * acts["c"]).sum(1)).squeeze()
cam = (cam - cam.min()) / (cam.max() - cam.min() + 1e-8)
print(cam.shape, cam.mean())
h1.remove(), h2.remove()


# gram matrices and total variation, by optimising an image
def gram(x):
    n, c, h, w = x.size()
    f = x.view(n * c, h * w)
    return torch.mm(f, f.t()).div(n * c * h * w)


target = gram(cnn[:2](torch.rand(1, 1, 8, 8))).detach()
image = img.clone().requires_grad_(True)
lb = optim.LBFGS([image], max_iter=5)
seen = []


def closure():
    with torch.no_grad():
        image.clamp_(0, 1)
    lb.zero_grad()
    tv = (image[..., 1:] - image[..., :-1]).abs().mean() + (image[..., 1:, :] - image[..., :-1, :]).abs().mean()
    loss = 1e3 * F.mse_loss(gram(cnn[:2](image)), target) + 0.01 * tv
    loss.backward()
    seen.append(loss.item())
    return loss


lb.step(closure)
print([f"{v:.4f}" for v in seen[:3]], len(seen))

# k-means and PCA
pts = torch.cat([torch.randn(20, 2) * 0.2 + torch.tensor(c) for c in ([0.0, 0.0], [2.0, 2.0], [0.0, 3.0])])
cent = pts[torch.randperm(60)[:3]]
for _ in range(5):
    assign = torch.cdist(pts, cent).argmin(1)
    cent = torch.stack([pts[assign == k].mean(0) if (assign == k).any() else cent[k] for k in range(3)])
print(torch.bincount(assign, minlength=3).sort().values, cent.sum())
U, S, V = torch.pca_lowrank(pts - pts.mean(0), q=2, center=False) if hasattr(torch, "pca_lowrank") else (None, None, None)
ev = torch.linalg.eigvalsh(torch.cov(pts.T))
print(ev, torch.linalg.svdvals(pts - pts.mean(0)))
