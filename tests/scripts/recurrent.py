import torch
from torch import nn

torch.manual_seed(0)
for make in (nn.RNN, nn.LSTM, nn.GRU):
    layer = make(3, 4, num_layers=2, batch_first=True, bidirectional=True)
    print(layer)
    x = torch.randn(2, 5, 3, requires_grad=True)
    y, last = layer(x)
    print(y.shape, y.sum().item())
    state = last if isinstance(last, tuple) else (last,)
    print([tuple(s.shape) for s in state], [round(s.sum().item(), 4) for s in state])
    (y.square().mean() + sum(s.mean() for s in state)).backward()
    print(x.grad.abs().sum().item(), [f"{n} {p.grad.abs().sum().item():.4f}" for n, p in layer.named_parameters()][:4])
    print(list(layer.state_dict())[-4:])

lstm = nn.LSTM(3, 4)
h, c = torch.randn(1, 2, 4), torch.randn(1, 2, 4)
y, (h, c) = lstm(torch.randn(5, 2, 3), (h, c))
print(y[-1], h, c)
y, h = nn.GRU(2, 3, bias=False)(torch.randn(4, 2))
print(y.detach(), h.shape)
y, h = nn.RNN(2, 3, nonlinearity="relu")(torch.randn(4, 1, 2))
print(y[:, 0], h)

torch.manual_seed(1)
cells = nn.RNNCell(3, 4), nn.LSTMCell(3, 4), nn.GRUCell(3, 4)
for cell in cells:
    print(cell)
    state = None
    for t in range(3):
        x = torch.randn(2, 3)
        state = cell(x, state)
    print([s.detach() for s in state] if isinstance(state, tuple) else state.detach())

# A character model of one word, with the state carried along.
torch.manual_seed(2)
text = "hello world"
chars = sorted(set(text))
ids = torch.tensor([chars.index(ch) for ch in text])
embed, gru, head = nn.Embedding(len(chars), 6), nn.GRU(6, 12), nn.Linear(12, len(chars))
params = [*embed.parameters(), *gru.parameters(), *head.parameters()]
optimizer = torch.optim.Adam(params, lr=0.05)
for step in range(30):
    out, _ = gru(embed(ids[:-1]).unsqueeze(1))
    loss = nn.functional.cross_entropy(head(out.squeeze(1)), ids[1:])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 10 == 9:
        print(step, f"{loss.item():.4f}")
try:
    lstm(torch.randn(2, 2, 7))
except RuntimeError as error:
    print(type(error).__name__)
