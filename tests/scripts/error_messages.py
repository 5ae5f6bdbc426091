import torch, torch.nn as nn, torch.nn.functional as F

torch.manual_seed(0)


def t(name, f):
    try:
        r = f()
        print(name, "->", type(r).__name__)
    except Exception as e:
        print(name, "|", type(e).__name__ + ":", str(e).strip().split("\n")[0][:300])


lin = nn.Linear(4, 2)
conv = nn.Conv2d(3, 8, 3)
x = torch.randn(5, 3)
t("linear shape", lambda: lin(x))
t("linear 3d", lambda: lin(torch.randn(2, 5, 3)))
t("linear dtype", lambda: lin(torch.ones(5, 4, dtype=torch.long)))
t("linear 1d", lambda: lin(torch.randn(3)))
t("conv channels", lambda: conv(torch.randn(1, 1, 8, 8)))
t("conv small", lambda: conv(torch.randn(1, 3, 2, 2)))
t("conv dims", lambda: conv(torch.randn(3, 8)))
t("conv1d dims", lambda: nn.Conv1d(3, 4, 3)(torch.randn(2, 4, 8)))
t("conv groups", lambda: nn.Conv2d(3, 4, 3, groups=2))
t("ce dtype", lambda: F.cross_entropy(torch.randn(3, 4), torch.randn(3)))
t("ce int", lambda: F.cross_entropy(torch.randn(3, 4), torch.tensor([0, 1, 2], dtype=torch.int32)))
t("ce batch", lambda: F.cross_entropy(torch.randn(3, 4), torch.tensor([0, 1])))
t("ce range", lambda: F.cross_entropy(torch.randn(3, 4), torch.tensor([0, 1, 4])))
t("ce neg", lambda: F.cross_entropy(torch.randn(3, 4), torch.tensor([0, 1, -1])))
t("ce shape", lambda: F.cross_entropy(torch.randn(3, 4), torch.zeros(3, 2, dtype=torch.long)))
t("bce shape", lambda: F.binary_cross_entropy(torch.rand(3, 1), torch.rand(3)))
t("bce dtype", lambda: F.binary_cross_entropy(torch.rand(3), torch.tensor([0, 1, 1])))
t("bcel shape", lambda: F.binary_cross_entropy_with_logits(torch.rand(3, 1), torch.rand(3)))
t("bcel dtype", lambda: F.binary_cross_entropy_with_logits(torch.rand(3), torch.tensor([0, 1, 1])))
t("mse shape", lambda: F.mse_loss(torch.randn(3), torch.randn(4)))
t("mse dtype", lambda: F.mse_loss(torch.randn(3, requires_grad=True), torch.tensor([1, 2, 3])).backward())
t("emb range", lambda: nn.Embedding(4, 2)(torch.tensor([4])))
t("emb neg", lambda: nn.Embedding(4, 2)(torch.tensor([-1])))
t("emb float", lambda: nn.Embedding(4, 2)(torch.tensor([1.0])))
t("matmul", lambda: torch.randn(2, 3) @ torch.randn(4, 5))
t("mm", lambda: torch.mm(torch.randn(2, 3), torch.randn(2, 3)))
t("bmm", lambda: torch.bmm(torch.randn(2, 3, 4), torch.randn(2, 3, 4)))
t("mv", lambda: torch.randn(2, 3) @ torch.randn(2))
t("dot", lambda: torch.dot(torch.randn(2), torch.randn(3)))
t("matmul dtype", lambda: torch.randn(2, 3) @ torch.ones(3, 2, dtype=torch.long))
t("add", lambda: torch.randn(2, 3) + torch.randn(4))
t("cat", lambda: torch.cat([torch.randn(2, 3), torch.randn(2, 4)]))
t("cat dims", lambda: torch.cat([torch.randn(2, 3), torch.randn(2)]))
t("stack", lambda: torch.stack([torch.randn(2), torch.randn(3)]))
t("stack empty", lambda: torch.stack([]))
t("cat empty", lambda: torch.cat([]))
t("view", lambda: torch.randn(6).view(4, 2))
t("view -1", lambda: torch.randn(6).view(-1, 4))
t("reshape", lambda: torch.randn(6).reshape(5))
t("expand", lambda: torch.randn(3).expand(4))
t("permute", lambda: torch.randn(2, 3).permute(0, 1, 2))
t("squeeze", lambda: torch.randn(2).squeeze(3))
t("transpose", lambda: torch.randn(2).transpose(0, 1))
t("dim", lambda: torch.randn(2, 2).sum(dim=2))
t("softmax dim", lambda: torch.randn(2).softmax(1))
t("unsq", lambda: torch.randn(2).unsqueeze(3))
t("chunk", lambda: torch.randn(4).split([1, 2]))
t("index", lambda: torch.randn(3)[5])
t("index2", lambda: torch.randn(3)[0, 0])
t("index list", lambda: torch.randn(3)[[0, 7]])
t("mask", lambda: torch.randn(3)[torch.tensor([True, False])])
t("idx float", lambda: torch.randn(3)[1.5])
t("gather", lambda: torch.gather(torch.randn(2, 2), 1, torch.tensor([[5], [0]])))
t("gather dtype", lambda: torch.gather(torch.randn(2, 2), 1, torch.zeros(2, 2)))
t("scatter", lambda: torch.zeros(2).scatter_(0, torch.tensor([3]), 1.0))
t("idx sel", lambda: torch.randn(3).index_select(0, torch.tensor([4])))
t("item", lambda: torch.randn(3).item())
t("bool", lambda: bool(torch.randn(3)))
t("if", lambda: 1 if torch.tensor([]) else 0)
t("float", lambda: float(torch.randn(2)))
t("len", lambda: len(torch.tensor(1.0)))
t("iter", lambda: list(torch.tensor(1.0)))
w = torch.ones(2, requires_grad=True)


def leaf():
    w.add_(1)


def leaf2():
    w[0] = 5


def leafv():
    w += 1 if False else 0


t("leaf inplace", leaf)
t("leaf setitem", leaf2)
t("leaf view", lambda: w.view(2, 1).add_(1))
t("numpy grad", lambda: w.numpy())
t("backward nonscalar", lambda: (w * 2).backward())
t("no grad", lambda: torch.ones(2).sum().backward())
t("int grad", lambda: torch.tensor([1, 2], requires_grad=True))
t("int grad2", lambda: torch.tensor([1, 2]).requires_grad_())
t("deepcopy", lambda: __import__("copy").deepcopy(w * 2))
t("grad unused", lambda: torch.autograd.grad(w.sum(), torch.ones(1, requires_grad=True)))
t("grad norg", lambda: torch.autograd.grad(w.sum(), torch.ones(1)))


def twice():
    l = (w**2).sum()
    l.backward()
    l.backward()


def modified():
    a = w.exp()
    b = a * a
    a.add_(1)
    b.sum().backward()


t("twice", twice)
t("set grad", lambda: setattr(w, "grad", torch.ones(3)))
t("rg nonleaf", lambda: (w * 2).requires_grad_(False))
m = nn.Sequential(nn.Linear(2, 2), nn.ReLU())
sd = m.state_dict()


def full(f):
    try:
        f()
    except Exception as e:
        print(type(e).__name__ + ":", e)


full(lambda: m.load_state_dict({"0.weight": sd["0.weight"]}))
full(lambda: m.load_state_dict({**sd, "x.y": sd["0.bias"]}))
full(lambda: m.load_state_dict({"0.weight": torch.ones(3, 2), "0.bias": torch.ones(2)}))
full(lambda: m.load_state_dict([1]))
t("device", lambda: torch.device("gpu"))
t("attr", lambda: m.foo)
t("attr t", lambda: torch.ones(1).foo)
t("Module no init", lambda: type("M", (nn.Module,), {"__init__": lambda self: setattr(self, "l", nn.Linear(1, 1))})())
t("no forward", lambda: nn.Module()(1))
t("super arg", lambda: nn.Linear(2))
t("kw", lambda: nn.Linear(2, 3, foo=1))
t("opt empty", lambda: torch.optim.SGD([], lr=0.1))
t("opt lr", lambda: torch.optim.Adam(m.parameters(), lr=-1))
t("opt tensor", lambda: torch.optim.SGD(torch.ones(1), lr=0.1))
t("opt nonleaf", lambda: torch.optim.SGD([w * 2], lr=0.1))
t("opt betas", lambda: torch.optim.Adam(m.parameters(), betas=(1.5, 0.9)))
t("param dict", lambda: setattr(m[0], "weight", torch.ones(2, 2)))
t("ln", lambda: nn.LayerNorm(4)(torch.randn(2, 3)))
t("bn", lambda: nn.BatchNorm1d(3)(torch.randn(1, 3)))
t("bn ch", lambda: nn.BatchNorm2d(3)(torch.randn(1, 2, 4, 4)))
t("bn dim", lambda: nn.BatchNorm2d(3)(torch.randn(3, 3)))
t("gn", lambda: nn.GroupNorm(2, 3))
t("mha", lambda: nn.MultiheadAttention(5, 2))
t("lstm", lambda: nn.LSTM(3, 4)(torch.randn(2, 2, 5)))
t("pool", lambda: nn.MaxPool2d(3)(torch.randn(1, 1, 2, 2)))
t("dropout p", lambda: nn.Dropout(1.5))
t("reduction", lambda: nn.MSELoss(reduction="foo")(x, x))
t("ds", lambda: torch.utils.data.TensorDataset(torch.ones(2), torch.ones(3)))
t("split", lambda: torch.utils.data.random_split([1, 2, 3], [1, 1]))
t("topk", lambda: torch.topk(torch.ones(3), 5))
t("multinomial", lambda: torch.multinomial(torch.tensor([-1.0, 2]), 1))
t("multinomial2", lambda: torch.multinomial(torch.tensor([1.0, 2]), 3))
t("ragged", lambda: torch.tensor([[1, 2], [3]]))
t("str", lambda: torch.tensor("abc"))
t("arange", lambda: torch.arange(5, 1))
t("load", lambda: torch.load("nowhere.pt"))
t("one_hot", lambda: F.one_hot(torch.tensor([3]), 2))
t("one_hot f", lambda: F.one_hot(torch.tensor([1.0])))
t("out type", lambda: torch.ones(2, dtype=torch.long).add_(1.5))
t("not", lambda: ~torch.ones(2))
t("and", lambda: torch.ones(2) & torch.ones(2))
t("neg bool", lambda: -torch.tensor([True]))
t("sub bool", lambda: torch.tensor([True]) - torch.tensor([True]))
t("mean long", lambda: torch.ones(2, dtype=torch.long).mean())
t("clip", lambda: nn.utils.clip_grad_norm_(m.parameters(), 1.0))
t("from_numpy", lambda: torch.from_numpy([1]))
t("randint", lambda: torch.randint(5, 5, (2,)))
t("size", lambda: torch.zeros(2).size(3))
t("modulelist", lambda: nn.ModuleList([nn.ReLU()])(x))
t("modlist idx", lambda: nn.ModuleList([nn.ReLU()])[3])
t("Categorical", lambda: torch.distributions.Categorical(torch.tensor([-1.0, 2])))
t("Normal", lambda: torch.distributions.Normal(0.0, -1.0))
