import math, torch, torch.nn as nn, torch.nn.functional as F, copy
from torch import Tensor


def clones(module, N):
    return nn.ModuleList([copy.deepcopy(module) for _ in range(N)])


class LayerNorm(nn.Module):
    def __init__(self, features, eps=1e-6):
        super().__init__()
        self.a_2 = nn.Parameter(torch.ones(features))
        self.b_2 = nn.Parameter(torch.zeros(features))
        self.eps = eps

    def forward(self, x):
        mean = x.mean(-1, keepdim=True)
        std = x.std(-1, keepdim=True)
        return self.a_2 * (x - mean) / (std + self.eps) + self.b_2


class SublayerConnection(nn.Module):
    def __init__(self, size, dropout):
        super().__init__()
        self.norm = LayerNorm(size)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, sublayer):
        return x + self.dropout(sublayer(self.norm(x)))


def subsequent_mask(size):
    return torch.triu(torch.ones((1, size, size)), diagonal=1).type(torch.uint8) == 0


def attention(query, key, value, mask=None, dropout=None):
    d_k = query.size(-1)
    scores = torch.matmul(query, key.transpose(-2, -1)) / math.sqrt(d_k)
    if mask is not None:
        scores = scores.masked_fill(mask == 0, -1e9)
    p = scores.softmax(dim=-1)
    if dropout is not None:
        p = dropout(p)
    return torch.matmul(p, value), p


class MultiHeadedAttention(nn.Module):
    def __init__(self, h, d_model, dropout=0.1):
        super().__init__()
        assert d_model % h == 0
        self.d_k = d_model // h
        self.h = h
        self.linears = clones(nn.Linear(d_model, d_model), 4)
        self.attn = None
        self.dropout = nn.Dropout(p=dropout)

    def forward(self, query, key, value, mask=None):
        if mask is not None:
            mask = mask.unsqueeze(1)
        n = query.size(0)
        query, key, value = [lin(x).view(n, -1, self.h, self.d_k).transpose(1, 2) for lin, x in zip(self.linears, (query, key, value))]
        x, self.attn = attention(query, key, value, mask=mask, dropout=self.dropout)
        x = x.transpose(1, 2).contiguous().view(n, -1, self.h * self.d_k)
        del query
        del key
        del value
        return self.linears[-1](x)


class PositionalEncoding(nn.Module):
    def __init__(self, d_model, dropout, max_len=50):
        super().__init__()
        self.dropout = nn.Dropout(p=dropout)
        pe = torch.zeros(max_len, d_model)
        position = torch.arange(0, max_len).unsqueeze(1)
        div_term = torch.exp(torch.arange(0, d_model, 2) * -(math.log(10000.0) / d_model))
        pe[:, 0::2] = torch.sin(position * div_term)
        pe[:, 1::2] = torch.cos(position * div_term)
        self.register_buffer("pe", pe.unsqueeze(0))

    def forward(self, x):
        return self.dropout(x + self.pe[:, : x.size(1)].requires_grad_(False))


class Embeddings(nn.Module):
    def __init__(self, d, v):
        super().__init__()
        self.lut = nn.Embedding(v, d)
        self.d = d

    def forward(self, x):
        return self.lut(x) * math.sqrt(self.d)


class DecoderOnly(nn.Module):
    def __init__(self, v, d, h, n):
        super().__init__()
        self.emb = nn.Sequential(Embeddings(d, v), PositionalEncoding(d, 0.1))
        c = copy.deepcopy
        a = MultiHeadedAttention(h, d)
        self.attns = clones(a, n)
        self.subs = clones(SublayerConnection(d, 0.1), 2 * n)
        self.ffs = clones(nn.Sequential(nn.Linear(d, 4 * d), nn.ReLU(), nn.Linear(4 * d, d)), n)
        self.norm = LayerNorm(d)
        self.proj = nn.Linear(d, v)
        for p in self.parameters():
            if p.dim() > 1:
                nn.init.xavier_uniform_(p)

    def forward(self, x, mask):
        x = self.emb(x)
        for i, (a, f) in enumerate(zip(self.attns, self.ffs)):
            x = self.subs[2 * i](x, lambda x: a(x, x, x, mask))
            x = self.subs[2 * i + 1](x, f)
        return F.log_softmax(self.proj(self.norm(x)), dim=-1)


class LabelSmoothing(nn.Module):
    def __init__(self, size, padding_idx, smoothing=0.0):
        super().__init__()
        self.criterion = nn.KLDivLoss(reduction="sum")
        self.padding_idx = padding_idx
        self.confidence = 1.0 - smoothing
        self.smoothing = smoothing
        self.size = size
        self.true_dist = None

    def forward(self, x, target):
        assert x.size(1) == self.size
        true_dist = x.data.clone()
        true_dist.fill_(self.smoothing / (self.size - 2))
        true_dist.scatter_(1, target.data.unsqueeze(1), self.confidence)
        true_dist[:, self.padding_idx] = 0
        mask = torch.nonzero(target.data == self.padding_idx)
        if mask.dim() > 0:
            true_dist.index_fill_(0, mask.squeeze(), 0.0)
        self.true_dist = true_dist
        return self.criterion(x, true_dist.clone().detach())


def rate(step, model_size, factor, warmup):
    if step == 0:
        step = 1
    return factor * (model_size ** (-0.5) * min(step ** (-0.5), step * warmup ** (-1.5)))


torch.manual_seed(0)
V = 11
m = DecoderOnly(V, 16, 4, 2)
crit = LabelSmoothing(V, 0, 0.1)
opt = torch.optim.Adam(m.parameters(), lr=0.5, betas=(0.9, 0.98), eps=1e-9)
sch = torch.optim.lr_scheduler.LambdaLR(opt, lr_lambda=lambda s: rate(s, 16, 1.0, 4))
print(subsequent_mask(4))
print(m.subs[0], len(list(m.parameters())))
for i in range(4):
    d = torch.randint(1, V, (3, 6))
    d[:, 0] = 1
    src, tgt = d[:, :-1], d[:, 1:]
    mask = (src != 0).unsqueeze(-2) & subsequent_mask(src.size(-1)).type_as(src.data)
    o = m(src, mask)
    loss = crit(o.contiguous().view(-1, V), tgt.contiguous().view(-1)) / (tgt != 0).data.sum()
    loss.backward()
    opt.step()
    opt.zero_grad(set_to_none=True)
    sch.step()
    print(i, f"{loss.item():6.3f} lr {opt.param_groups[0]['lr']:6.1e}", m.attns[0].attn.shape)
print(crit.true_dist[0])
