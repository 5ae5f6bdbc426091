import torch
from torch import nn

# The Rosenbrock function, with and without a line search.
for search in (None, "strong_wolfe"):
    xy = torch.tensor([-1.0, 1.5], requires_grad=True)
    optimizer = torch.optim.LBFGS([xy], lr=0.1 if search is None else 1, max_iter=8, history_size=5, line_search_fn=search)

    def closure():
        optimizer.zero_grad()
        loss = (1 - xy[0]) ** 2 + 5 * (xy[1] - xy[0] ** 2) ** 2
        loss.backward()
        return loss

    for step in range(4):
        loss = optimizer.step(closure)
        print(search, step, f"{loss.item():.4f}", [f"{v:.3f}" for v in xy.tolist()])
    print(optimizer.state[xy]["n_iter"] > 0, len(optimizer.param_groups))

torch.manual_seed(0)
x = torch.linspace(-2, 2, 20).unsqueeze(1)
y = torch.sin(2 * x)
net = nn.Sequential(nn.Linear(1, 8), nn.Tanh(), nn.Linear(8, 1))
optimizer = torch.optim.LBFGS(net.parameters(), max_iter=10)
for epoch in range(2):
    def closure():
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(net(x), y)
        loss.backward()
        return loss
    print(epoch, f"{optimizer.step(closure).item():.2f}")
