import torch

i, f, b = torch.tensor([1, 2, 3]), torch.tensor([0.5, 1.5, 2.5]), torch.tensor([True, False, True])
print((i + f).dtype, (i + 1).dtype, (i + 1.5).dtype, (i / 2).dtype, (b + 1).dtype, (b + b).dtype, (i // 2).dtype)
print(i / 2, i // 2, i % 2, i ** 2, 2 ** i, 1 - i, 1 / f, f ** 0.5, -i, ~b, abs(-f))
print((i > 1), (i == f), (b & (i > 1)), b.sum(), b.float().mean(), i.float().mean())
print(i.to(torch.float32).dtype, i.int().dtype, f.long(), f.double().dtype, f.half().dtype, f.bool())
print((f.double() + f).dtype, (torch.tensor(1.0) * i).dtype, (i.int() + i).dtype, (f.half() + f).dtype)
print(torch.tensor([1, 2]).sum().dtype, torch.tensor([1, 2]).prod(), torch.arange(3, dtype=torch.float).dtype, torch.arange(0, 1, 0.25))
print(torch.full((2,), 3).dtype, torch.full((2,), 3.0).dtype, torch.zeros_like(i).dtype, torch.ones(2, dtype=torch.bool))
print(torch.tensor([1, 2.5]).dtype, torch.tensor([True, 2]).dtype, torch.tensor(1).dtype)
print(f.type(), i.type(), f.is_floating_point(), torch.is_tensor(f), f.element_size())
x = torch.tensor([200, 100], dtype=torch.uint8)
print(x + x, x / 255, x.float(), x.dtype)
f += i
print(f)
try:
    i += 0.5
except RuntimeError as e:
    print("RuntimeError:", e)
print(torch.maximum(i, torch.tensor(2)), torch.where(i > 1, i, 0), torch.where(i > 1, 1.0, 0.0))
print(bool(torch.tensor(1)), int(torch.tensor(2.7)), float(torch.tensor(3)), torch.tensor(4).item() + 1)
print(torch.round(f), f.floor().int(), torch.isnan(torch.tensor([float("nan"), 1.0])), torch.allclose(f, f + 1e-9))
