# Among other draws, by chances that stay, by a generator of its own, and once by none that are.
import random
random.seed(1)
own, fixed = torch.Generator().manual_seed(4), torch.tensor([0.2, 0.5, 0.3])
policy = nn.Linear(4, 3)
opt = torch.optim.Adam(policy.parameters(), lr=0.01)
for step in range(N):
    noise = torch.randn(32, 4)
    words = torch.multinomial(fixed, 32, replacement=True)
    with torch.no_grad():
        chances = F.softmax(policy(x + 0.1 * noise), dim=1)
    if step == 9:
        chances = chances * float("nan")
    try:
        action = torch.multinomial(chances, 2, generator=own)[:, 1]
    except RuntimeError as e:
        print(step, e)
    loss = F.cross_entropy(policy(x + 0.1 * torch.randn(32, 4)), action) + 0.1 * F.cross_entropy(policy(x), words)
    opt.zero_grad()
    loss.backward()
    opt.step()
print(f"{loss.item():.4f}", random.random(), torch.rand(2), torch.rand(1, generator=own))
