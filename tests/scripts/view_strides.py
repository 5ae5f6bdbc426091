import torch

torch.manual_seed(0)
x = torch.arange(24).reshape(2, 3, 4)
for name, v in {
    "x": x, "transpose": x.transpose(0, 2), "permute": x.permute(1, 2, 0), "T": x[0].T, "slice": x[:, 1:, ::2], "select": x[:, 1],
    "last": x[..., -1], "narrow": x.narrow(2, 1, 2), "unsqueeze": x.unsqueeze(1), "squeeze": x[:, :1].squeeze(1), "expand": x[:, :1].expand(2, 5, 4),
    "diagonal": x.diagonal(dim1=1, dim2=2), "unfold": x.unfold(2, 2, 1), "split": x.split([1, 2], dim=1)[1], "chunk": x.chunk(2, dim=2)[1],
    "unbind": x.unbind(1)[2], "movedim": x.movedim(0, -1), "view": x.view(6, 4), "flatten": x.flatten(1), "detach": x.t() if x.dim() < 3 else x.detach(),
    "none": x[None, :, 0], "swapaxes": x.swapaxes(0, 1), "contiguous": x.transpose(0, 1).contiguous(), "clone": x.transpose(0, 1).contiguous().view(-1),
    "chain": x.transpose(1, 2)[:, 1:3].unsqueeze(0), "unflatten": x.unflatten(2, (2, 2)), "viewed": x.transpose(0, 1).view(3, 2, 2, 2),
}.items():
    print(name, tuple(v.shape), v.stride(), v.storage_offset(), v.is_contiguous())
print(x.stride(1), x.stride(-1))
for f in (lambda: x.transpose(0, 1).view(6, 4), lambda: x[0].t().view(-1), lambda: x[:, :, :2].view(-1), lambda: x.t_() if False else x.permute(2, 1, 0).view(4, 6)):
    try:
        f()
        print("fine")
    except RuntimeError as e:
        print(e)
y = x.transpose(0, 1).reshape(-1)
y[0] = 100
print(x[0, 0, 0], y[:3])
z = x.view(-1)
z[0] = 50
print(x[0, 0, 0])
c = x.transpose(0, 1).contiguous()
c[0, 0, 0] = 7
print(x[0, 0, 0])
w = torch.ones(3, requires_grad=True)
h = w * 2
h.unsqueeze_(0)
h.squeeze_(0)
h.t_()
h.sum().backward()
print(w.grad, h.shape)
a = torch.ones(2, 3)
a.unsqueeze_(0).transpose_(1, 2)
print(a.shape)
try:
    w.unsqueeze_(0)
except RuntimeError as e:
    print(e)
m = torch.randn(2, 3, requires_grad=True)
print(m.t().contiguous(), m.t().contiguous().is_leaf)
p = torch.nn.Parameter(torch.zeros(2))
old = p.data
p.data = torch.ones(2)
print(old, p.data, p)
old.add_(5)
print(old, p)
