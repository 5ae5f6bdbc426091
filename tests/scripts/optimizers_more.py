import torch
from torch import nn

torch.manual_seed(0)
x, y = torch.randn(16, 3), torch.randn(16, 2)
for name, settings in (("Adadelta", {}), ("Adadelta", dict(lr=0.5, rho=0.8, weight_decay=0.01)), ("Adamax", {}), ("NAdam", {}),
                       ("NAdam", dict(weight_decay=0.1, decoupled_weight_decay=True)), ("RAdam", dict(lr=0.02)), ("Rprop", {}),
                       ("ASGD", dict(lr=0.05, t0=2)), ("Adafactor", {}), ("Adagrad", dict(lr=0.1, lr_decay=0.01)),
                       ("RMSprop", dict(momentum=0.9, centered=True)), ("AdamW", dict(amsgrad=True)), ("SGD", dict(lr=0.1, nesterov=True, momentum=0.9))):
    torch.manual_seed(1)
    model = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2))
    optimizer = getattr(torch.optim, name)(model.parameters(), **settings)
    losses = []
    for step in range(12):
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    print(name, settings, [f"{v:.5f}" for v in losses[::3]], sorted(optimizer.state_dict()["state"][0]))
    again = getattr(torch.optim, name)(model.parameters(), **settings)
    again.load_state_dict(optimizer.state_dict())
    optimizer.zero_grad()
    nn.functional.mse_loss(model(x), y).backward()
    again.step()
    print(f"{nn.functional.mse_loss(model(x), y).item():.5f}")
torch.manual_seed(1)
model = nn.Linear(6, 5, bias=False)
muon = torch.optim.Muon(model.parameters(), lr=0.02)
for step in range(3):
    muon.zero_grad()
    model(torch.ones(2, 6)).square().sum().backward()
    muon.step()
print(f"{model.weight.sum().item():.2f}")
print(torch.optim.Adadelta([torch.zeros(1, requires_grad=True)]))
for bad in (lambda: torch.optim.NAdam(model.parameters(), betas=(1.0, 0.9)), lambda: torch.optim.Adamax(model.parameters(), lr=-1)):
    try:
        bad()
    except ValueError as error:
        print(error)
