import torch

x = torch.arange(24.0).reshape(2, 3, 4)
print(x[0], x[1, 2], x[..., 1], x[:, 1:, ::2])
print(x[:, None].shape, x[-1, -1, -1])
i = torch.tensor([0, 2])
print(x[:, i], x[0, i, i], x[[0, 1], [1, 2]])
m = x > 10
print(x[m], m.sum())
y = x.clone()
y[0, 1] = 100
y[:, :, 0] = torch.tensor([-1.0, -2.0, -3.0])
y[y > 50] = 0
y[1, i] = torch.ones(2, 4)
print(y)
z = torch.zeros(3, 4)
v = z[1]
v += 5
v[0] = 7
w = z.t()
w[3] = 9
print(z, w)
z.view(-1)[2] = 11
z[:, 1].fill_(3)
z[2].mul_(2).add_(1)
print(z, v)
print(x.sum(), x.sum(0), x.mean(dim=(0, 2)), x.max(), x.max(dim=1))
print(x.argmax(), x.argmax(dim=-1), x.min(2).values)
print(torch.nonzero(torch.tensor([0, 1, 1])), torch.where(torch.tensor([True, False])))
print(x.permute(2, 0, 1).shape, x.transpose(0, 1).shape, x.flatten(1).shape, x.unsqueeze(0).squeeze().shape)
a, b = torch.split(torch.arange(5), 3)
print(a, b, torch.chunk(torch.arange(6), 3))
print(torch.cat([torch.ones(1, 2), torch.zeros(1, 2)]), torch.stack([torch.ones(2), torch.zeros(2)], dim=1))
for row in torch.eye(2):
    print(row)
print(len(x), x.size(), x.size(1), x.ndim, x.numel(), list(x.shape))
print(torch.tensor([3, 1, 2]).sort(), torch.topk(torch.tensor([3.0, 1.0, 2.0]), 2))
print(torch.triu(torch.ones(3, 3), diagonal=1), torch.tril(torch.ones(2, 2)).bool())
print(x[0].gather(1, torch.tensor([[0], [1], [2]])))
print(torch.zeros(3).scatter_(0, torch.tensor([1]), 5.0), torch.zeros(3).index_fill_(0, torch.tensor([0, 2]), 1.0))
print(torch.arange(3).unsqueeze(1) == torch.arange(3))
print(torch.einsum("ij,jk->ik", torch.ones(2, 3), torch.ones(3, 2)), torch.meshgrid(torch.arange(2), torch.arange(2), indexing="ij"))
print(x.cumsum(-1)[0], torch.clamp(x, 2, 5)[0], x.std(), x.var(0, unbiased=False)[0])
