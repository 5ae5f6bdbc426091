# Actions are drawn from what the model gives, without gradients; what they earn trains it later.
policy = nn.Linear(4, 3)
opt = torch.optim.Adam(policy.parameters(), lr=0.01)
for step in range(N):
    with torch.no_grad():
        chances = F.softmax(policy(x), dim=1)
        action = torch.multinomial(chances, 1).squeeze(1)
    earned = (action == 1).float() - 0.3
    loss = -(F.log_softmax(policy(x), 1).gather(1, action.unsqueeze(1)).squeeze(1) * earned).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
print(f"{loss.item():.4f}")
