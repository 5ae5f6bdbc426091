"""Recurrent layers over sentences of any length, whole and piece by piece, and steps handed on by the script."""

import torch
import torch.nn as nn

torch.manual_seed(0)


def show(name, *values):
    print(name, " ".join(f"{v:.4f}" for v in values))


class Tagger(nn.Module):
    def __init__(self, layer, **options):
        super().__init__()
        self.embedding = nn.Embedding(40, 12)
        self.layer = layer(12, 32, batch_first=True, **options)
        self.head = nn.Linear(32 * (2 if options.get("bidirectional") else 1), 4)

    def forward(self, words):
        return self.head(self.layer(self.embedding(words))[0][:, -1])


for layer, options in ((nn.RNN, {"nonlinearity": "relu"}), (nn.GRU, {"bidirectional": True}), (nn.LSTM, {"num_layers": 2, "dropout": 0.3})):
    model = Tagger(layer, **options)
    optimizer = torch.optim.Adam(model.parameters(), 1e-2)
    losses = []
    for length in (7, 12, 3, 19, 5, 2, 1, 12, 21):
        loss = nn.functional.cross_entropy(model(torch.randint(0, 40, (2, length))), torch.randint(0, 4, (2,)))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    show(layer.__name__, *losses)

# Gradients through two calls, the second of one step: concatenations whose first parts are one value.
torch.manual_seed(0)
gru, head = nn.GRU(4, 32, batch_first=True), nn.Linear(32, 5)
parameters = [*gru.parameters(), *head.parameters()]
sequence = torch.randn(1, 3, 4)
for step in range(3):
    first, state = gru(sequence[:, :2])
    last, _ = gru(sequence[:, 2:], state)
    z = head(last[:, -1])
    for p in parameters:
        p.grad = None
    loss = z.pow(2).sum()
    loss.backward()
    show("split", loss.item(), *[p.grad.abs().sum().item() for p in parameters])
