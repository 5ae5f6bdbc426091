import torch, torch.nn as nn, torch.optim as optim
from torch.utils.data import *
from torch.optim import lr_scheduler as S

torch.manual_seed(0)


class Stream(IterableDataset):
    def __init__(self, n):
        self.n = n

    def __iter__(self):
        for i in range(self.n):
            yield {"x": torch.tensor([float(i)]), "y": i, "name": f"s{i}", "z": (i, [i])}


for b in DataLoader(Stream(5), batch_size=2):
    print(b)
ds = TensorDataset(torch.arange(10.0).unsqueeze(1), torch.tensor([0] * 8 + [1] * 2))
w = torch.tensor([1 / 8, 1 / 2])
s = WeightedRandomSampler(w[ds.tensors[1]], 10, replacement=True)
print([b[1].tolist() for b in DataLoader(ds, 5, sampler=s)])
print(
    [b[0].flatten().tolist() for b in DataLoader(ds, 4, shuffle=True, drop_last=True, generator=torch.Generator().manual_seed(1))],
    len(DataLoader(ds, 3)),
)
print(
    [b.tolist() for b in BatchSampler(SequentialSampler(ds), 4, False)] if False else list(BatchSampler(SequentialSampler(ds), 4, False)),
    list(SubsetRandomSampler([3, 4, 5])),
    list(RandomSampler(range(4))),
)
a, b = random_split(ds, [0.7, 0.3])
print(len(a), len(b), a.indices)
print(len(ConcatDataset([a, b])), Subset(ds, [1, 2])[1])


def worker_init(i):
    pass


dl = DataLoader(ds, batch_size=4, num_workers=2, pin_memory=True, worker_init_fn=worker_init, persistent_workers=True, prefetch_factor=2)
it = iter(dl)
print(next(it)[0].shape, dl.batch_size, dl.dataset is ds)
for x, y in DataLoader(ds, batch_size=None):
    print(x, y)
    break
p = [nn.Parameter(torch.zeros(1))]


def run(make, n=8, **kw):
    o = optim.SGD(p, lr=0.1, momentum=0.9)
    s = make(o)
    out = []
    for i in range(n):
        o.step()
        out.append(round(o.param_groups[0]["lr"], 6))
        s.step()
    print(out)


run(lambda o: S.OneCycleLR(o, 0.5, total_steps=10))
run(lambda o: S.CosineAnnealingWarmRestarts(o, T_0=3, T_mult=2))
run(lambda o: S.LambdaLR(o, lambda e: 0.9**e))
run(lambda o: S.SequentialLR(o, [S.LinearLR(o, 0.1, total_iters=3), S.CosineAnnealingLR(o, 5)], milestones=[3]))
run(lambda o: S.ChainedScheduler([S.ConstantLR(o, 0.5, 2), S.ExponentialLR(o, 0.9)]))
run(lambda o: S.PolynomialLR(o, 6, 2.0))
run(lambda o: S.CyclicLR(o, 0.01, 0.1, step_size_up=3, mode="triangular2"))
run(lambda o: S.StepLR(o, 3, 0.5))
run(lambda o: S.MultiplicativeLR(o, lambda e: 0.95))
o = optim.Adam(p, 0.1)
s = S.ReduceLROnPlateau(o, mode="min", factor=0.5, patience=1, threshold=1e-3, min_lr=1e-3)
for l in [1, 0.9, 0.9, 0.9, 0.8, 0.8, 0.8, 0.8]:
    s.step(l)
    print(o.param_groups[0]["lr"], s.num_bad_epochs, end=" ")
print(s.get_last_lr(), S.CosineAnnealingLR(o, 10).state_dict())
o = optim.AdamW([{"params": p, "lr": 0.01, "weight_decay": 0.0}, {"params": [nn.Parameter(torch.ones(1))]}], lr=0.1)
p[0].grad = torch.ones(1)
o.step()
print(o.state_dict())
o.add_param_group({"params": [nn.Parameter(torch.ones(2))], "lr": 5.0})
print(len(o.param_groups), o.param_groups[2]["lr"], o.state[p[0]])
import copy

sd = copy.deepcopy(o.state_dict())
o2 = optim.AdamW([{"params": p}, {"params": [nn.Parameter(torch.ones(1))]}, {"params": [nn.Parameter(torch.ones(2))]}])
o2.load_state_dict(sd)
print(o2.param_groups[0]["lr"])


class Lion(optim.Optimizer):
    def __init__(self, params, lr=1e-4, betas=(0.9, 0.99), weight_decay=0.0):
        if not 0.0 <= lr:
            raise ValueError("Invalid learning rate: {}".format(lr))
        super().__init__(params, dict(lr=lr, betas=betas, weight_decay=weight_decay))

    @torch.no_grad()
    def step(self, closure=None):
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is None:
                    continue
                p.data.mul_(1 - group["lr"] * group["weight_decay"])
                g = p.grad
                st = self.state[p]
                if len(st) == 0:
                    st["exp_avg"] = torch.zeros_like(p)
                m = st["exp_avg"]
                b1, b2 = group["betas"]
                u = m * b1 + g * (1 - b1)
                p.add_(u.sign_(), alpha=-group["lr"])
                m.mul_(b2).add_(g, alpha=1 - b2)
        return loss


m = nn.Linear(3, 1)
o = Lion(m.parameters(), 1e-2, weight_decay=0.1)
x = torch.randn(5, 3)
for _ in range(3):
    l = (m(x) ** 2).mean()
    o.zero_grad()
    l.backward()
    o.step()
    print(f"{l:.5f}")
print(o)
