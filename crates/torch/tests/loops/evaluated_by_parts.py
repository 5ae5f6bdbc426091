# The state goes on from one part of the text to the next.
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.cell, self.out = nn.Embedding(9, 6), nn.LSTM(6, 6), nn.Linear(6, 9)
    def forward(self, ids, h):
        o, h = self.cell(self.embed(ids), h)
        return F.log_softmax(self.out(o).view(-1, 9), dim=1), h
def repackage(h):
    return h.detach() if isinstance(h, torch.Tensor) else tuple(repackage(v) for v in h)
model = Net()
source = torch.randint(0, 9, (101, 4))
def evaluate():
    model.eval()
    total, h = 0.0, (torch.zeros(1, 4, 6), torch.zeros(1, 4, 6))
    with torch.no_grad():
        for i in range(0, source.size(0) - 1, 5):
            n = min(5, len(source) - 1 - i)
            data, wanted = source[i:i + n], source[i + 1:i + 1 + n].view(-1)
            out, h = model(data, h)
            h = repackage(h)
            total += len(data) * F.nll_loss(out, wanted).item()
    return total / (len(source) - 1)
opt = torch.optim.SGD(model.parameters(), lr=0.5)
for step in range(6):
    loss = F.nll_loss(model(source[:-1], None)[0], source[1:].view(-1))
    opt.zero_grad()
    loss.backward()
    opt.step()
for epoch in range(3):
    print(f"{evaluate():.4f}")
