import math
import random
import string
import unicodedata

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(1)
random.seed(1)
all_letters = string.ascii_letters + " .,;'-"
n_letters = len(all_letters)


def unicodeToAscii(s):
    return "".join(c for c in unicodedata.normalize("NFD", s) if unicodedata.category(c) != "Mn" and c in all_letters)


print(unicodeToAscii("Ślusàrski"), unicodeToAscii("O'Néàl"), unicodeToAscii("Müller-Ångström"))
category_lines = {"Polish": ["Ślusarski", "Adamczak", "Bosko"], "Irish": ["O'Neal", "Adam", "Aodha"], "Greek": ["Adamidis", "Akrivopoulos", "Antonopoulos"]}
category_lines = {k: [unicodeToAscii(n) for n in v] for k, v in category_lines.items()}
all_categories = list(category_lines)


def lineToTensor(line):
    tensor = torch.zeros(len(line), 1, n_letters)
    for li, letter in enumerate(line):
        tensor[li][0][all_letters.find(letter)] = 1
    return tensor


class RNN(nn.Module):
    def __init__(self, input_size, hidden_size, output_size):
        super(RNN, self).__init__()
        self.hidden_size = hidden_size
        self.i2h = nn.Linear(input_size + hidden_size, hidden_size)
        self.h2o = nn.Linear(hidden_size, output_size)
        self.softmax = nn.LogSoftmax(dim=1)

    def forward(self, input, hidden):
        combined = torch.cat((input, hidden), 1)
        hidden = torch.tanh(self.i2h(combined))
        output = self.softmax(self.h2o(hidden))
        return output, hidden

    def initHidden(self):
        return torch.zeros(1, self.hidden_size)


rnn = RNN(n_letters, 16, len(all_categories))
criterion = nn.NLLLoss()
learning_rate = 0.05


def categoryFromOutput(output):
    top_n, top_i = output.topk(1)
    category_i = top_i[0].item()
    return all_categories[category_i], category_i


def train(category_tensor, line_tensor):
    hidden = rnn.initHidden()
    rnn.zero_grad()
    for i in range(line_tensor.size()[0]):
        output, hidden = rnn(line_tensor[i], hidden)
    loss = criterion(output, category_tensor)
    loss.backward()
    for p in rnn.parameters():
        p.data.add_(p.grad.data, alpha=-learning_rate)
    return output, loss.item()


for it in range(12):
    category = random.choice(all_categories)
    line = random.choice(category_lines[category])
    output, loss = train(torch.tensor([all_categories.index(category)], dtype=torch.long), lineToTensor(line))
    guess, guess_i = categoryFromOutput(output)
    correct = "✓" if guess == category else f"✗ ({category})"
    print("%d %d%% %.4f %s / %s %s" % (it, it / 12 * 100, loss, line, guess, correct))
confusion = torch.zeros(3, 3)
with torch.no_grad():
    for i, c in enumerate(all_categories):
        for line in category_lines[c]:
            h = rnn.initHidden()
            for x in lineToTensor(line):
                out, h = rnn(x, h)
            confusion[i][categoryFromOutput(out)[1]] += 1
for i in range(3):
    confusion[i] = confusion[i] / confusion[i].sum()
print(confusion)
