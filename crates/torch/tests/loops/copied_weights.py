import copy
first = nn.Linear(4, 4)
stack = nn.Sequential(copy.deepcopy(first), nn.Tanh(), copy.deepcopy(first), nn.Linear(4, 1))
opt = torch.optim.SGD(stack.parameters(), lr=0.05)
for step in range(N):
    loss = F.mse_loss(stack(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 8 == 0:
        print(f"{loss.item():.4f}")
