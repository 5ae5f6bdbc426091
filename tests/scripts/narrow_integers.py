"""Integers of 8 and 16 bits: their types beside numbers and other tensors, and how they wrap."""
import torch

types = (torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64)
for kind in types:
    x, y = torch.tensor(3, dtype=kind), torch.tensor([1, 2], dtype=kind)
    print(kind, [t.dtype for t in (x.clone(), x * 1, x + True, x * 2.0, y + x, y * 2, x.t(), x.squeeze(), torch.fill(x, 2), -x, x ** 2)])
    print("  beside", [(a + b).dtype for a in (x, y) for b in (torch.tensor(2), torch.tensor([2]), torch.tensor(True), torch.tensor(2.0))])
    for other in types:
        z = torch.tensor([4], dtype=other)
        print("  ", other, (y + z).dtype, (x + z).dtype, (y + z[0]).dtype, (x * z[0]).dtype)

x = torch.tensor([200, 100], dtype=torch.uint8)
x.add_(100)
print(x)
x += x
print(x, x.bitwise_not_(), ~torch.tensor(3, dtype=torch.uint8), -torch.tensor([1], dtype=torch.uint8))
count = torch.tensor(0, dtype=torch.int32)
count = count + 1
print(count, torch.full_like(x, -9), torch.tensor([120], dtype=torch.int8) + 10, torch.tensor([32767], dtype=torch.int16) + 1)
for kind in types[:3]:
    for value in (300, -300, -9, 40000, 127, 128):
        try:
            print(torch.full((1,), value, dtype=kind))
        except RuntimeError as error:
            print(error)
