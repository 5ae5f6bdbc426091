import numpy as np
import random
import torch

np.random.seed(42)
print(np.random.rand(3), np.random.randn(2, 2), np.random.random(), np.random.uniform(-1, 1, 3))
print(np.random.randint(0, 10, 5), np.random.randint(3), np.random.randint(5, size=(2, 2)), np.random.normal(1.0, 0.5, 3), np.random.normal())
print(np.random.permutation(5), np.random.choice(5, 3), np.random.choice(5, 3, replace=False), np.random.choice([10, 20, 30], p=[0.1, 0.2, 0.7]))
items = [1, 2, 3, 4, 5]
np.random.shuffle(items)
x = np.arange(6).reshape(3, 2)
np.random.shuffle(x)
print(items, x, np.random.exponential(2.0, 2), np.random.standard_normal(2), np.random.random_sample(2))
state = np.random.RandomState(7)
print(state.rand(2), state.randint(100), state.normal(size=2))

# A regression on data that NumPy makes.
np.random.seed(0)
torch.manual_seed(0)
data = np.random.randn(100, 2).astype(np.float32)
labels = (data @ np.array([[2.0], [-3.0]], dtype=np.float32) + 0.5 + 0.1 * np.random.randn(100, 1)).astype(np.float32)
order = np.random.permutation(100)
train, test = order[:80], order[80:]
model = torch.nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
losses = []
for epoch in range(20):
    np.random.shuffle(train)
    for i in range(0, 80, 16):
        rows = train[i:i + 16]
        x, y = torch.from_numpy(data[rows]), torch.from_numpy(labels[rows])
        loss = ((model(x) - y) ** 2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
print(np.mean(losses[-5:]), np.array(losses[:3]))
with torch.no_grad():
    predicted = model(torch.tensor(data[test])).numpy()
print(f"{np.sqrt(np.mean((predicted - labels[test]) ** 2)):.4f}", model.weight.detach().numpy().round(2))
