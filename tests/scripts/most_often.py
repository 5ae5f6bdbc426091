# torch.mode: which of equal values is named.
import torch

for seed in range(3):
    torch.manual_seed(seed)
    for n in (1, 5, 16, 17, 40, 333, 1500):
        x = torch.randint(0, 5, (n,))
        print(n, *[m.item() for m in torch.mode(x)], *[m.item() for m in (x % 2 == 0).mode()], *[m.item() for m in (x * 0.5).mode(0)])
x = torch.randint(0, 3, (3, 30, 2))
for made in (torch.mode(x, 1), x.mode(dim=0, keepdim=True), torch.tensor(4.0).mode(), torch.mode(torch.arange(600) // 100), torch.mode(torch.arange(300).flip(0) % 7)):
    print(made.values.tolist(), made.indices.tolist())
w = torch.tensor([2.0, 1.0, 2.0, 3.0], requires_grad=True)
print(torch.autograd.grad(torch.mode(w).values, w)[0].tolist(), torch.mode(w))
