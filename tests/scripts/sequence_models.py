import math
from typing import List, Optional

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch import Tensor
from torch.nn import TransformerEncoder, TransformerEncoderLayer

torch.manual_seed(0)
np.random.seed(0)


class PositionalEncoding(nn.Module):
    def __init__(self, d_model: int, dropout: float = 0.1, max_len: int = 50):
        super().__init__()
        self.dropout = nn.Dropout(p=dropout)
        position = torch.arange(max_len).unsqueeze(1)
        div_term = torch.exp(torch.arange(0, d_model, 2) * (-math.log(10000.0) / d_model))
        pe = torch.zeros(max_len, 1, d_model)
        pe[:, 0, 0::2] = torch.sin(position * div_term)
        pe[:, 0, 1::2] = torch.cos(position * div_term)
        self.register_buffer("pe", pe)

    def forward(self, x: Tensor) -> Tensor:
        x = x + self.pe[: x.size(0)]
        return self.dropout(x)


class TransformerModel(nn.Module):
    def __init__(self, ntoken: int, d_model: int, nhead: int, d_hid: int, nlayers: int, dropout: float = 0.5):
        super().__init__()
        self.model_type = "Transformer"
        self.pos_encoder = PositionalEncoding(d_model, dropout)
        encoder_layers = TransformerEncoderLayer(d_model, nhead, d_hid, dropout)
        self.transformer_encoder = TransformerEncoder(encoder_layers, nlayers)
        self.embedding = nn.Embedding(ntoken, d_model)
        self.d_model = d_model
        self.linear = nn.Linear(d_model, ntoken)
        self.init_weights()

    def init_weights(self) -> None:
        initrange = 0.1
        self.embedding.weight.data.uniform_(-initrange, initrange)
        self.linear.bias.data.zero_()
        self.linear.weight.data.uniform_(-initrange, initrange)

    def forward(self, src: Tensor, src_mask: Optional[Tensor] = None) -> Tensor:
        src = self.embedding(src) * math.sqrt(self.d_model)
        src = self.pos_encoder(src)
        if src_mask is None:
            src_mask = nn.Transformer.generate_square_subsequent_mask(len(src))
        output = self.transformer_encoder(src, src_mask)
        return self.linear(output)


def batchify(data: Tensor, bsz: int) -> Tensor:
    seq_len = data.size(0) // bsz
    data = data[: seq_len * bsz]
    return data.view(bsz, seq_len).t().contiguous()


bptt = 6
train_data = batchify(torch.randint(0, 12, (100,)), 4)


def get_batch(source: Tensor, i: int):
    seq_len = min(bptt, len(source) - 1 - i)
    return source[i : i + seq_len], source[i + 1 : i + 1 + seq_len].reshape(-1)


model = TransformerModel(12, 16, 2, 20, 2, 0.2)
criterion = nn.CrossEntropyLoss()
lr = 0.5
optimizer = torch.optim.SGD(model.parameters(), lr=lr)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 1.0, gamma=0.95)
model.train()
total_loss = 0.0
for batch, i in enumerate(range(0, train_data.size(0) - 1, bptt)):
    data, targets = get_batch(train_data, i)
    output = model(data)
    loss = criterion(output.view(-1, 12), targets)
    optimizer.zero_grad()
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 0.5)
    optimizer.step()
    total_loss += loss.item()
    if batch % 2 == 0:
        print(f"| batch {batch:5d} | lr {scheduler.get_last_lr()[0]:02.2f} | loss {loss.item():5.3f} | ppl {math.exp(loss.item()):8.2f}")
scheduler.step()
print(f"{total_loss:.4f}")


def repackage_hidden(h):
    """Wraps hidden states in new Tensors, to detach them from their history."""
    return h.detach() if isinstance(h, torch.Tensor) else tuple(repackage_hidden(v) for v in h)


class RNNModel(nn.Module):
    def __init__(self, rnn_type, ntoken, ninp, nhid, nlayers, dropout=0.2, tie_weights=False):
        super().__init__()
        self.drop = nn.Dropout(dropout)
        self.encoder = nn.Embedding(ntoken, ninp)
        self.rnn = getattr(nn, rnn_type)(ninp, nhid, nlayers, dropout=dropout)
        self.decoder = nn.Linear(nhid, ntoken)
        if tie_weights:
            self.decoder.weight = self.encoder.weight
        self.rnn_type, self.nhid, self.nlayers, self.ntoken = rnn_type, nhid, nlayers, ntoken

    def forward(self, input, hidden):
        output, hidden = self.rnn(self.drop(self.encoder(input)), hidden)
        decoded = self.decoder(self.drop(output)).view(-1, self.ntoken)
        return F.log_softmax(decoded, dim=1), hidden

    def init_hidden(self, bsz):
        weight = next(self.parameters())
        if self.rnn_type == "LSTM":
            return (weight.new_zeros(self.nlayers, bsz, self.nhid), weight.new_zeros(self.nlayers, bsz, self.nhid))
        return weight.new_zeros(self.nlayers, bsz, self.nhid)


for kind in ("LSTM", "GRU"):
    net = RNNModel(kind, 12, 8, 8, 2, tie_weights=True)
    print(kind, sum(p.numel() for p in net.parameters()))
    hidden = net.init_hidden(4)
    for i in range(0, 18, bptt):
        data, targets = get_batch(train_data, i)
        net.zero_grad()
        hidden = repackage_hidden(hidden)
        output, hidden = net(data, hidden)
        loss = nn.NLLLoss()(output, targets)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(net.parameters(), 0.25)
        for p in net.parameters():
            p.data.add_(p.grad, alpha=-1.0)
        print(f"{loss.item():.4f}")
net.eval()
with torch.no_grad():
    hidden, word = net.init_hidden(1), torch.randint(12, (1, 1), dtype=torch.long)
    words = []
    for i in range(6):
        output, hidden = net(word, hidden)
        word_weights = output.squeeze().div(0.9).exp()
        word_idx = torch.multinomial(word_weights, 1)[0]
        word.fill_(word_idx)
        words.append(word_idx.item())
print(words)

# time sequence prediction with cells
t = np.empty((3, 20), "float32")
t[:] = np.array(range(20)) + np.random.randint(-4, 4, 3).reshape(3, 1)
series = torch.from_numpy(np.sin(t / 3.0).astype("float32"))


class Sequence(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm1, self.lstm2, self.linear = nn.LSTMCell(1, 6), nn.LSTMCell(6, 6), nn.Linear(6, 1)

    def forward(self, input, future=0):
        outputs = []
        h_t, c_t = torch.zeros(input.size(0), 6), torch.zeros(input.size(0), 6)
        h_t2, c_t2 = torch.zeros(input.size(0), 6), torch.zeros(input.size(0), 6)
        for input_t in input.split(1, dim=1):
            h_t, c_t = self.lstm1(input_t, (h_t, c_t))
            h_t2, c_t2 = self.lstm2(h_t, (h_t2, c_t2))
            output = self.linear(h_t2)
            outputs += [output]
        for i in range(future):
            h_t, c_t = self.lstm1(output, (h_t, c_t))
            h_t2, c_t2 = self.lstm2(h_t, (h_t2, c_t2))
            output = self.linear(h_t2)
            outputs += [output]
        return torch.cat(outputs, dim=1)


seq = Sequence()
opt = torch.optim.LBFGS(seq.parameters(), lr=0.8, max_iter=3)
for i in range(2):
    def closure():
        opt.zero_grad()
        loss = F.mse_loss(seq(series[:, :-1]), series[:, 1:])
        loss.backward()
        return loss
    print("loss: %.4f" % opt.step(closure).item())
print(seq(series[:1, :-1], future=3).shape)


# BERT-like classification with padding masks and mixed precision on the CPU
class Classifier(nn.Module):
    def __init__(self, vocab=20, d=16):
        super().__init__()
        self.tok, self.pos = nn.Embedding(vocab, d, padding_idx=0), nn.Parameter(torch.randn(1, 10, d) * 0.02)
        layer = nn.TransformerEncoderLayer(d, 4, 32, 0.1, activation="gelu", batch_first=True, norm_first=True)
        self.enc = nn.TransformerEncoder(layer, 2, norm=nn.LayerNorm(d), enable_nested_tensor=False)
        self.cls = nn.Linear(d, 2)

    def forward(self, ids):
        mask = ids.eq(0)
        h = self.enc(self.tok(ids) + self.pos[:, : ids.size(1)], src_key_padding_mask=mask)
        h = h.masked_fill(mask.unsqueeze(-1), 0.0)
        return self.cls(h.sum(1) / (~mask).sum(1, keepdim=True))


net = Classifier()
opt = torch.optim.AdamW([{"params": [p for n, p in net.named_parameters() if "bias" not in n], "weight_decay": 0.01},
                         {"params": [p for n, p in net.named_parameters() if "bias" in n], "weight_decay": 0.0}], lr=5e-3)
sched = torch.optim.lr_scheduler.LambdaLR(opt, lambda s: min(1.0, (s + 1) / 3))
ids = torch.randint(1, 20, (8, 10))
ids[:4, 6:] = 0
labels = torch.tensor([0, 1] * 4)
accum = 2
for step in range(6):
    part = slice(0, 4) if step % 2 == 0 else slice(4, 8)
    with torch.autocast(device_type="cpu", dtype=torch.bfloat16, enabled=False):
        loss = F.cross_entropy(net(ids[part]), labels[part]) / accum
    loss.backward()
    if (step + 1) % accum == 0:
        nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        opt.step()
        sched.step()
        opt.zero_grad()
        print(f"step {step} loss {loss.item() * accum:.4f} lr {sched.get_last_lr()[0]:.5f}")
mha = nn.MultiheadAttention(16, 4, batch_first=True)
o, wts = mha(net.tok(ids), net.tok(ids), net.tok(ids), key_padding_mask=ids == 0, need_weights=True)
print(o.shape, wts.shape, wts[0, 0])
dec = nn.TransformerDecoder(nn.TransformerDecoderLayer(16, 2, 24, 0.0, batch_first=True), 1)
print(dec(net.tok(ids)[:, :4], net.tok(ids), tgt_mask=nn.Transformer.generate_square_subsequent_mask(4)).sum())
