import torch
import torch.nn as nn
import torch.nn.functional as F
from torch import optim
from torch.utils.data import DataLoader, RandomSampler, TensorDataset
import numpy as np
import random
import re

torch.manual_seed(3)
random.seed(3)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
SOS_token, EOS_token, MAX_LENGTH = 0, 1, 6


class Lang:
    def __init__(self, name):
        self.name = name
        self.word2index, self.word2count = {}, {}
        self.index2word = {0: "SOS", 1: "EOS"}
        self.n_words = 2

    def addSentence(self, sentence):
        for word in sentence.split(" "):
            self.addWord(word)

    def addWord(self, word):
        if word not in self.word2index:
            self.word2index[word] = self.n_words
            self.word2count[word] = 1
            self.index2word[self.n_words] = word
            self.n_words += 1
        else:
            self.word2count[word] += 1


def normalizeString(s):
    s = re.sub(r"([.!?])", r" \1", s.lower().strip())
    s = re.sub(r"[^a-zA-Z!?]+", r" ", s)
    return s.strip()


raw = ["Je suis froid.\tI am cold.", "Il est grand!\tHe is big!", "Nous sommes prets.\tWe are ready.", "Elle est ici?\tIs she here?"]
pairs = [[normalizeString(p) for p in line.split("\t")] for line in raw]
input_lang, output_lang = Lang("fra"), Lang("eng")
for a, b in pairs:
    input_lang.addSentence(a)
    output_lang.addSentence(b)
print(input_lang.n_words, output_lang.n_words, random.choice(pairs))


class EncoderRNN(nn.Module):
    def __init__(self, input_size, hidden_size, dropout_p=0.1):
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
        scores = self.Va(torch.tanh(self.Wa(query) + self.Ua(keys)))
        scores = scores.squeeze(2).unsqueeze(1)
        weights = F.softmax(scores, dim=-1)
        return torch.bmm(weights, keys), weights


class AttnDecoderRNN(nn.Module):
    def __init__(self, hidden_size, output_size, dropout_p=0.1):
        super().__init__()
        self.embedding = nn.Embedding(output_size, hidden_size)
        self.attention = BahdanauAttention(hidden_size)
        self.gru = nn.GRU(2 * hidden_size, hidden_size, batch_first=True)
        self.out = nn.Linear(hidden_size, output_size)
        self.dropout = nn.Dropout(dropout_p)

    def forward(self, encoder_outputs, encoder_hidden, target_tensor=None):
        batch_size = encoder_outputs.size(0)
        decoder_input = torch.empty(batch_size, 1, dtype=torch.long, device=device).fill_(SOS_token)
        decoder_hidden = encoder_hidden
        decoder_outputs, attentions = [], []
        for i in range(MAX_LENGTH):
            embedded = self.dropout(self.embedding(decoder_input))
            query = decoder_hidden.permute(1, 0, 2)
            context, attn_weights = self.attention(query, encoder_outputs)
            output, decoder_hidden = self.gru(torch.cat((embedded, context), dim=2), decoder_hidden)
            output = self.out(output)
            decoder_outputs.append(output)
            attentions.append(attn_weights)
            if target_tensor is not None:
                decoder_input = target_tensor[:, i].unsqueeze(1)
            else:
                _, topi = output.topk(1)
                decoder_input = topi.squeeze(-1).detach()
        decoder_outputs = F.log_softmax(torch.cat(decoder_outputs, dim=1), dim=-1)
        return decoder_outputs, decoder_hidden, torch.cat(attentions, dim=1)


input_ids, target_ids = np.zeros((len(pairs), MAX_LENGTH), dtype=np.int32), np.zeros((len(pairs), MAX_LENGTH), dtype=np.int32)
for idx, (inp, tgt) in enumerate(pairs):
    i = [input_lang.word2index[w] for w in inp.split(" ")] + [EOS_token]
    t = [output_lang.word2index[w] for w in tgt.split(" ")] + [EOS_token]
    input_ids[idx, :len(i)] = i
    target_ids[idx, :len(t)] = t
train_data = TensorDataset(torch.LongTensor(input_ids).to(device), torch.LongTensor(target_ids).to(device))
train_dataloader = DataLoader(train_data, sampler=RandomSampler(train_data), batch_size=2)
encoder, decoder = EncoderRNN(input_lang.n_words, 12).to(device), AttnDecoderRNN(12, output_lang.n_words).to(device)
eo, do = optim.Adam(encoder.parameters(), lr=0.01), optim.Adam(decoder.parameters(), lr=0.01)
criterion = nn.NLLLoss()
for epoch in range(1, 4):
    total_loss = 0
    for input_tensor, target_tensor in train_dataloader:
        eo.zero_grad()
        do.zero_grad()
        encoder_outputs, encoder_hidden = encoder(input_tensor)
        decoder_outputs, _, _ = decoder(encoder_outputs, encoder_hidden, target_tensor)
        loss = criterion(decoder_outputs.view(-1, decoder_outputs.size(-1)), target_tensor.view(-1))
        loss.backward()
        eo.step()
        do.step()
        total_loss += loss.item()
    print("(%d %d%%) %.4f" % (epoch, epoch / 3 * 100, total_loss / len(train_dataloader)))
encoder.eval()
decoder.eval()
with torch.no_grad():
    eo_, eh = encoder(train_data[0][0].unsqueeze(0))
    out, _, attn = decoder(eo_, eh)
    words = []
    for idx in out.topk(1)[1].squeeze():
        if idx.item() == EOS_token:
            words.append("<EOS>")
            break
        words.append(output_lang.index2word[idx.item()])
    print(" ".join(words), attn.shape, attn[0, 0, :4])
