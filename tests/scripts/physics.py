"""A differential equation by a network: derivatives of the network are in the loss."""
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(1, 16), nn.Tanh(), nn.Linear(16, 16), nn.Tanh(), nn.Linear(16, 1))
optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.99)
t = torch.linspace(0, 2, 20).view(-1, 1).requires_grad_(True)
zero = torch.zeros(1, 1, requires_grad=True)
for step in range(12):
    u = net(t)
    du = torch.autograd.grad(u, t, grad_outputs=torch.ones_like(u), create_graph=True)[0]
    d2u = torch.autograd.grad(du.sum(), t, create_graph=True)[0]
    u0 = net(zero)
    du0 = torch.autograd.grad(u0, zero, create_graph=True)[0]
    residual = (d2u + 0.5 * du + 4 * u).pow(2).mean()
    start = (u0 - 1).pow(2).squeeze() + du0.pow(2).squeeze()
    loss = 0.1 * residual + start
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    scheduler.step()
    if step % 3 == 2:
        print(f"{step} {loss.item():.4f} {residual.item():.4f} {start.item():.4f}")

# A Wasserstein critic with a gradient penalty (Gulrajani et al., 2017).
critic = nn.Sequential(nn.Linear(2, 16), nn.LeakyReLU(0.2), nn.Linear(16, 1))
opt = torch.optim.Adam(critic.parameters(), lr=1e-2, betas=(0.5, 0.9))
for step in range(5):
    real, fake = torch.randn(8, 2) + 1, torch.randn(8, 2)
    alpha = torch.rand(8, 1)
    mixed = (alpha * real + (1 - alpha) * fake).requires_grad_(True)
    scores = critic(mixed)
    gradients = torch.autograd.grad(outputs=scores, inputs=mixed, grad_outputs=torch.ones(scores.size()), create_graph=True, retain_graph=True,
                                    only_inputs=True)[0]
    penalty = ((gradients.view(8, -1).norm(2, dim=1) - 1) ** 2).mean() * 10
    loss = critic(fake).mean() - critic(real).mean() + penalty
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(f"critic {loss.item():.4f} {penalty.item():.4f}")

# Fitting a physical constant by gradient descent through a simulation.
k = torch.tensor(1.0, requires_grad=True)
for step in range(5):
    x, v = torch.tensor(1.0), torch.tensor(0.0)
    for _ in range(20):
        v = v - 0.05 * k * x
        x = x + 0.05 * v
    loss = (x - 0.2) ** 2
    (g,) = torch.autograd.grad(loss, k)
    with torch.no_grad():
        k -= 1.0 * g
    print(f"k {k.item():.4f} {loss.item():.6f}")
