import torch, torch.nn as nn, torch.nn.functional as F, random

SOS_token, EOS_token = 0, 1


class Lang:
    def __init__(self, name):
        self.name = name
        self.word2index = {}
        self.word2count = {}
        self.index2word = {0: "SOS", 1: "EOS"}
        self.n_words = 2

    def addSentence(self, s):
        for w in s.split(" "):
            self.addWord(w)

    def addWord(self, w):
        if w not in self.word2index:
            self.word2index[w] = self.n_words
            self.word2count[w] = 1
            self.index2word[self.n_words] = w
            self.n_words += 1
        else:
            self.word2count[w] += 1


pairs = [["je suis froid", "i am cold"], ["tu es grand", "you are tall"], ["il est content", "he is happy"], ["je suis grand", "i am tall"]]
inp, out = Lang("fra"), Lang("eng")
for a, b in pairs:
    inp.addSentence(a)
    out.addSentence(b)
print(inp.name, inp.n_words, out.name, out.n_words)


class EncoderRNN(nn.Module):
    def __init__(self, input_size, hidden_size, dropout_p=0.0):
        super().__init__()
        self.embedding = nn.Embedding(input_size, hidden_size)
        self.gru = nn.GRU(hidden_size, hidden_size, batch_first=True)
        self.dropout = nn.Dropout(dropout_p)

    def forward(self, input):
        return self.gru(self.dropout(self.embedding(input)))


class BahdanauAttention(nn.Module):
    def __init__(self, hidden_size):
        super().__init__()
        self.Wa = nn.Linear(hidden_size, hidden_size)
        self.Ua = nn.Linear(hidden_size, hidden_size)
        self.Va = nn.Linear(hidden_size, 1)

    def forward(self, query, keys):
        scores = self.Va(torch.tanh(self.Wa(query) + self.Ua(keys))).squeeze(2).unsqueeze(1)
        weights = F.softmax(scores, dim=-1)
        return torch.bmm(weights, keys), weights


class AttnDecoderRNN(nn.Module):
    def __init__(self, hidden_size, output_size):
        super().__init__()
        self.embedding = nn.Embedding(output_size, hidden_size)
        self.attention = BahdanauAttention(hidden_size)
        self.gru = nn.GRU(2 * hidden_size, hidden_size, batch_first=True)
        self.out = nn.Linear(hidden_size, output_size)

    def forward(self, enc_out, enc_hidden, target=None):
        b = enc_out.size(0)
        di = torch.empty(b, 1, dtype=torch.long).fill_(SOS_token)
        dh = enc_hidden
        outs, attns = [], []
        for i in range(4):
            o, dh, w = self.step(di, dh, enc_out)
            outs.append(o)
            attns.append(w)
            if target is not None:
                di = target[:, i].unsqueeze(1)
            else:
                _, topi = o.topk(1)
                di = topi.squeeze(-1).detach()
        return F.log_softmax(torch.cat(outs, dim=1), dim=-1), dh, torch.cat(attns, dim=1)

    def step(self, input, hidden, enc):
        e = self.embedding(input)
        q = hidden.permute(1, 0, 2)
        c, w = self.attention(q, enc)
        o, h = self.gru(torch.cat((e, c), dim=2), hidden)
        return self.out(o), h, w


def idx(lang, s):
    return [lang.word2index[w] for w in s.split(" ")] + [EOS_token]


X = torch.tensor([idx(inp, a) for a, _ in pairs], dtype=torch.long)
Y = torch.LongTensor([idx(out, b) for _, b in pairs])
torch.manual_seed(3)
random.seed(3)
enc, dec = EncoderRNN(inp.n_words, 8), AttnDecoderRNN(8, out.n_words)
print(enc, dec)
eo, do = torch.optim.Adam(enc.parameters(), lr=0.05), torch.optim.Adam(dec.parameters(), lr=0.05)
crit = nn.NLLLoss()
for epoch in range(12):
    eo.zero_grad()
    do.zero_grad()
    e, h = enc(X)
    o, _, _ = dec(e, h, Y if random.random() < 0.8 else None)
    loss = crit(o.view(-1, o.size(-1)), Y.view(-1))
    loss.backward()
    eo.step()
    do.step()
    if epoch % 3 == 0:
        print(epoch, "%.4f" % loss.item())
with torch.no_grad():
    for a, b in pairs[:2]:
        e, h = enc(torch.tensor([idx(inp, a)]))
        o, _, attn = dec(e, h)
        _, ti = o.topk(1)
        words = []
        for i in ti.squeeze():
            if i.item() == EOS_token:
                words.append("<EOS>")
                break
            words.append(out.index2word[i.item()])
        print(">", a, "=", b, "<", " ".join(words), attn.shape)
