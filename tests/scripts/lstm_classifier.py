import torch, torch.nn as nn
from torch.nn.utils.rnn import pad_sequence, pack_padded_sequence, pad_packed_sequence
from torch.utils.data import Dataset, DataLoader

torch.manual_seed(0)


class Seqs(Dataset):
    def __init__(self, n):
        self.d = [(torch.randint(1, 20, (int(torch.randint(3, 9, (1,))),)), i % 3) for i in range(n)]

    def __len__(self):
        return len(self.d)

    def __getitem__(self, i):
        return self.d[i]


def collate(batch):
    batch = sorted(batch, key=lambda b: len(b[0]), reverse=True)
    seqs, labels = zip(*batch)
    lengths = torch.tensor([len(s) for s in seqs])
    return pad_sequence(seqs, batch_first=True, padding_value=0), lengths, torch.tensor(labels)


class BiLSTM(nn.Module):
    def __init__(self, v, e, h, c):
        super().__init__()
        self.embed = nn.Embedding(v, e, padding_idx=0)
        self.lstm = nn.LSTM(e, h, num_layers=2, bidirectional=True, batch_first=True, dropout=0.0)
        self.fc = nn.Linear(2 * h, c)
        for name, p in self.lstm.named_parameters():
            if "weight_hh" in name:
                nn.init.orthogonal_(p)
            elif "bias" in name:
                p.data.fill_(0)

    def forward(self, x, l):
        packed = pack_padded_sequence(self.embed(x), l.cpu(), batch_first=True, enforce_sorted=True)
        out, (h, c) = self.lstm(packed)
        out, ls = pad_packed_sequence(out, batch_first=True)
        return self.fc(torch.cat([h[-2], h[-1]], dim=1)), out, ls


dl = DataLoader(Seqs(12), batch_size=4, shuffle=True, collate_fn=collate)
m = BiLSTM(20, 6, 5, 3)
print(m)
opt = torch.optim.Adagrad(m.parameters(), lr=0.1)
for ep in range(2):
    for x, l, y in dl:
        o, seq, ls = m(x, l)
        loss = nn.CrossEntropyLoss()(o, y)
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(ep, x.shape, l.tolist(), ls, seq.shape, round(loss.item(), 4))
print(m.embed.weight[0], m.embed.weight.grad[0].abs().sum())
ps = pack_padded_sequence(torch.randn(2, 3, 2), [3, 2], batch_first=True)
print(ps.batch_sizes, ps.data.shape)
print([n for n, _ in m.lstm.named_parameters()])
rnn = nn.RNN(3, 4, nonlinearity="relu")
o, h = rnn(torch.randn(5, 2, 3))
print(o.shape, h.shape, o[-1].eq(h[0]).all())
cell = nn.LSTMCell(3, 4)
hx, cx = torch.zeros(2, 4), torch.zeros(2, 4)
for t in range(3):
    hx, cx = cell(torch.randn(2, 3), (hx, cx))
print(hx.detach())
