# Models, tensors that share memory, containers and generators, for random loops. `{seed}` and `{opt}` are filled in.
import torch, copy, math, random, time
import torch.nn as nn, torch.nn.functional as F
from collections import deque, defaultdict
torch.manual_seed({seed}); random.seed({seed})
x = torch.randn(16, 4); y = torch.randn(16, 2)
class Net(nn.Module):
    def __init__(s):
        super().__init__(); s.a = nn.Linear(4, 5); s.b = nn.Linear(5, 2); s.k = 1.0; s.n = 0
        s.register_buffer("run", torch.zeros(5)); s.hooked = None; s.use = True
    def forward(s, x):
        s.n += 1
        h = torch.tanh(s.a(x)) * s.k
        if s.training: s.run.mul_(0.9).add_(h.detach().mean(0), alpha=0.1)
        if s.use: h = h + s.run
        s.last = h
        return s.b(h)


def made():
    torch.manual_seed(3)
    return Net()


m, m2 = made(), made(); ema = copy.deepcopy(m)
params = list(m.parameters())
g1 = torch.Generator().manual_seed(7)
opt = {opt}
opt2 = torch.optim.SGD(m2.parameters(), 0.05, momentum=0.5)
w = torch.ones(4, 2, requires_grad=True)
v = torch.zeros(3)
view = v[1:]
mat = torch.zeros(4, 4)
row = mat[1]
col = mat.t()[2]
q = deque(maxlen=3)
kept = []
d = defaultdict(float)
acc = torch.zeros(())
flag = False
cur, oth = m, m2
lr = 0.1
cnt = torch.zeros((), dtype=torch.long)
prev = None
hist = []
snap = None
state = dict(m=None)
T = [1.0]
best = 1e9
ab = [torch.ones(2), torch.zeros(2)]
tA, tB, tC = ab[0], None, torch.full((2,), 2.0)
pair = (0, 0.0)
name = ''
fn = None
cfg = dict(lr=0.1, n=1, t=torch.zeros(()))
m.last2 = torch.zeros(())
g2 = torch.Generator().manual_seed(8)
best_m = m
net = m
idx = torch.arange(16)
msk = torch.ones(16, dtype=torch.bool)
class Tracker:
    def __init__(s): s.v = None; s.t = 0
    def __call__(s, z): s.t += 1; s.v = z.detach() if s.v is None else s.v * 0.8 + z.detach() * 0.2; return s.v
    @property
    def now(s): return s.v / (1 - 0.8 ** s.t)
tr = Tracker()
def gen():
    k = 0
    while True:
        yield k, x[k:k + 4]; k = (k + 3) % 12
G = gen()
def closure():
    T[0] *= 0.97
    return T[0]
def noisy(z, s=[0]):
    s[0] += 1
    return z + (0.01 * s[0] if s[0] % 3 else 0.0)
box = [torch.zeros(()), 0]
old = box
t00 = time.time()
