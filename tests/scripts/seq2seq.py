import random
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch import optim

random.seed(1)
torch.manual_seed(1)
SOS, EOS, LETTERS = 0, 1, 8


class EncoderRNN(nn.Module):
    def __init__(self, input_size, hidden_size):
        super(EncoderRNN, self).__init__()
        self.hidden_size = hidden_size
        self.embedding = nn.Embedding(input_size, hidden_size)
        self.gru = nn.GRU(hidden_size, hidden_size)

    def forward(self, input, hidden):
        embedded = self.embedding(input).view(1, 1, -1)
        output, hidden = self.gru(embedded, hidden)
        return output, hidden

    def initHidden(self):
        return torch.zeros(1, 1, self.hidden_size)


class AttnDecoderRNN(nn.Module):
    def __init__(self, hidden_size, output_size, max_length=6):
        super(AttnDecoderRNN, self).__init__()
        self.embedding = nn.Embedding(output_size, hidden_size)
        self.attn = nn.Linear(hidden_size * 2, max_length)
        self.attn_combine = nn.Linear(hidden_size * 2, hidden_size)
        self.gru = nn.GRU(hidden_size, hidden_size)
        self.out = nn.Linear(hidden_size, output_size)

    def forward(self, input, hidden, encoder_outputs):
        embedded = self.embedding(input).view(1, 1, -1)
        attn_weights = F.softmax(self.attn(torch.cat((embedded[0], hidden[0]), 1)), dim=1)
        attn_applied = torch.bmm(attn_weights.unsqueeze(0), encoder_outputs.unsqueeze(0))
        output = F.relu(self.attn_combine(torch.cat((embedded[0], attn_applied[0]), 1)).unsqueeze(0))
        output, hidden = self.gru(output, hidden)
        return F.log_softmax(self.out(output[0]), dim=1), hidden, attn_weights


def pair():
    letters = [random.randint(2, LETTERS - 1) for _ in range(random.randint(2, 4))]
    to = lambda ids: torch.tensor(ids + [EOS], dtype=torch.long).view(-1, 1)
    return to(letters), to(letters[::-1])


encoder, decoder = EncoderRNN(LETTERS, 16), AttnDecoderRNN(16, LETTERS)
encoder_optimizer = optim.SGD(encoder.parameters(), lr=0.05)
decoder_optimizer = optim.SGD(decoder.parameters(), lr=0.05)
criterion = nn.NLLLoss()
total = 0
for step in range(1, 13):
    source, target = pair()
    hidden = encoder.initHidden()
    encoder_optimizer.zero_grad()
    decoder_optimizer.zero_grad()
    encoder_outputs = torch.zeros(6, encoder.hidden_size)
    for ei in range(source.size(0)):
        encoder_output, hidden = encoder(source[ei], hidden)
        encoder_outputs[ei] = encoder_output[0, 0]
    loss = 0
    decoder_input = torch.tensor([[SOS]])
    teacher_forcing = random.random() < 0.5
    for di in range(target.size(0)):
        decoder_output, hidden, attention = decoder(decoder_input, hidden, encoder_outputs)
        loss += criterion(decoder_output, target[di])
        if teacher_forcing:
            decoder_input = target[di]
        else:
            topv, topi = decoder_output.topk(1)
            decoder_input = topi.squeeze().detach()
            if decoder_input.item() == EOS:
                break
    loss.backward()
    encoder_optimizer.step()
    decoder_optimizer.step()
    total += loss.item() / target.size(0)
    if step % 4 == 0:
        print("%d %.4f" % (step, total / 4), attention.shape)
        total = 0
