import torch, torch.nn as nn, torch.nn.functional as F, math, copy

torch.manual_seed(0)
# char rnn (pytorch tutorial), seq classification
import string

letters = string.ascii_letters + " .,;'"
n_letters = len(letters)


def toAscii(s):
    return s


def line(l):
    t = torch.zeros(len(l), 1, n_letters)
    for i, c in enumerate(l):
        t[i][0][letters.find(c)] = 1
    return t


print(toAscii("Slusarski"), line("Jones").size())


class RNN(nn.Module):
    def __init__(self, i, h, o):
        super().__init__()
        self.h = h
        self.i2h = nn.Linear(i + h, h)
        self.i2o = nn.Linear(i + h, o)
        self.softmax = nn.LogSoftmax(dim=1)

    def forward(self, x, h):
        c = torch.cat((x, h), 1)
        return self.softmax(self.i2o(c)), self.i2h(c)

    def initHidden(self):
        return torch.zeros(1, self.h)


r = RNN(n_letters, 8, 3)
crit = nn.NLLLoss()
for name, y in (("Jones", 0), ("Rossi", 1), ("Sato", 2)):
    h = r.initHidden()
    r.zero_grad()
    t = line(name)
    for i in range(t.size()[0]):
        o, h = r(t[i], h)
    l = crit(o, torch.tensor([y]))
    l.backward()
    for p in r.parameters():
        p.data.add_(p.grad.data, alpha=-0.005)
    print(f"{l.item():.4f}", o.topk(1)[1][0].item())
# neural ODE, RK4
f = nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 2))
y0 = torch.tensor([[2.0, 0.0]])
o = torch.optim.RMSprop(f.parameters(), 1e-2)


def odeint(f, y, ts):
    out = [y]
    for a, b in zip(ts[:-1], ts[1:]):
        dt = b - a
        k1 = f(y)
        k2 = f(y + dt * k1 / 2)
        k3 = f(y + dt * k2 / 2)
        k4 = f(y + dt * k3)
        y = y + dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        out.append(y)
    return torch.stack(out)


for i in range(3):
    l = (odeint(f, y0, torch.linspace(0, 1, 5)) - torch.linspace(2, 1, 5).view(5, 1, 1)).abs().mean()
    o.zero_grad()
    l.backward()
    o.step()
    print(f"{l:.4f}", end=" ")
print()


# rope, rmsnorm, swiglu, kv cache, GQA, mask
def rope(x, cos, sin):
    x1, x2 = x[..., ::2], x[..., 1::2]
    return torch.stack([x1 * cos - x2 * sin, x1 * sin + x2 * cos], -1).flatten(-2)


pos = torch.arange(4).float()
inv = 1.0 / (10000 ** (torch.arange(0, 8, 2).float() / 8))
fr = torch.outer(pos, inv)
q = torch.randn(1, 2, 4, 8)
print(rope(q, fr.cos(), fr.sin())[0, 0, 1, :4])
mask = torch.full((4, 4), float("-inf")).triu(1)
print(mask, F.scaled_dot_product_attention(q, q[:, :1], q[:, :1], attn_mask=mask, enable_gqa=True).shape)
k = torch.zeros(1, 2, 6, 8)
k[:, :, 2:4] = q[:, :, :2]
print(k.sum((0, 1, 3)).ne(0))
kpm = torch.tensor([[False, False, True, True]])
mha = nn.MultiheadAttention(8, 2, batch_first=True)
ox, w = mha(q[:, 0], q[:, 0], q[:, 0], key_padding_mask=kpm, need_weights=True)
print(w.detach(), w.sum(-1))
enc = nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, activation="gelu", norm_first=True, batch_first=True), 2)
print(enc(q[:, 0], mask=nn.Transformer.generate_square_subsequent_mask(4), is_causal=True).shape)
# VQ-VAE straight-through, gumbel
z = torch.randn(5, 4, requires_grad=True)
cb = nn.Embedding(6, 4)
d = z.pow(2).sum(1, keepdim=True) - 2 * z @ cb.weight.t() + cb.weight.pow(2).sum(1)
idx = d.argmin(1)
zq = z + (cb(idx) - z).detach()
zq.sum().backward()
print(idx, z.grad[0], F.gumbel_softmax(torch.randn(2, 3), tau=0.5, hard=True).sum(1))
# misc ops
x = torch.arange(12.0).view(3, 4)
print(
    x.unfold(1, 2, 1).shape,
    F.unfold(x[None, None], 2).shape,
    x.roll(1, 0)[0],
    x.flip(0)[0],
    torch.where(x > 5, x, -x)[1],
    x.masked_fill(x < 3, -1.0)[0],
    x.cumsum(1)[1],
    x.diff()[0],
    x.clamp(2, 8).mean(),
    x.quantile(0.25),
    x.median(),
    torch.mode(torch.tensor([1, 2, 2])),
    x.std(1, unbiased=False),
    x.var(),
    x.argsort(descending=True)[0],
    torch.histc(x, 4),
    torch.bincount(torch.tensor([0, 1, 1])),
    torch.unique(torch.tensor([3, 1, 3]), return_inverse=True),
    x.repeat(1, 2).shape,
    x.tile(2).shape,
    x.expand(2, 3, 4).shape,
    torch.meshgrid(torch.arange(2), torch.arange(3), indexing="xy")[0],
    torch.bucketize(torch.tensor([1.0, 5.0]), torch.tensor([0.0, 2, 4])),
    torch.isin(x, torch.tensor([1.0, 2.0])).sum(),
    x.nonzero().shape,
    torch.nonzero(x > 9, as_tuple=True),
    x.index_select(1, torch.tensor([0, 2]))[0],
    torch.take_along_dim(x, x.argmax(1, keepdim=True), 1),
    torch.addmm(torch.ones(3, 3), x, x.t())[0],
    torch.baddbmm(torch.ones(1), x[None], x.t()[None]).shape,
    torch.einsum("ij,ij->i", x, x),
    torch.tensordot(x, x, dims=([1], [1])).shape,
    x.logsumexp(1),
    x.prod(1),
    torch.outer(x[0], x[0])[1],
    torch.chunk(x, 2, 1)[1][0],
    x.split([1, 3], 1)[1].shape,
    torch.lerp(x[0], x[1], 0.5),
    torch.fmod(x[2], 3),
    x[2] // 3,
    x[2] % 3,
    torch.floor_divide(x[2], 4),
    torch.sign(-x[1]),
    x.T.reshape(-1)[:3],
    x[..., None].shape,
    x[:, [0, 2]][1],
    x[torch.tensor([0, 2]), torch.tensor([1, 3])],
    x[x > 8],
    x[1:, ::2],
    x[-1, -2:],
)
x[x > 8] = 0
x[0] += 1
x[:, 1] *= 2
x[[0, 2]] = x[[2, 0]]
print(
    x,
    (x == 0).any(1),
    (x >= 0).all().item(),
    x.ne(0).sum(0),
    torch.allclose(x, x + 1e-9),
    torch.equal(x, x),
    x.long().float().half().dtype,
    x.bool().int().sum(),
    x.tolist()[0],
    x.max(0).values,
    x.amax((0, 1)),
    x.sum().item(),
    x.count_nonzero(),
)
