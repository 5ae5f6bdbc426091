"""Parts of tensors, written by numbers and slices: beside views, copies, saved values and other holders of the same tensor."""
import torch

torch.manual_seed(3)
images = torch.zeros(6, 2, 5, 5)
shapes = torch.rand(3, 3, 2)
for i in range(6):
    top, left = i % 3, i % 4
    images[i, i % 2, top:top + 3, left:left + 2] = shapes[i % 3]
    images[i, :, 4] += 0.5
    images[-1 - i, ..., 0] *= 2
print(images.sum(dim=(1, 2, 3)))
print(images[2])

x = torch.zeros(8, 10)
alias, copy, row, flat = x, x.clone(), x[3], x.view(-1)
for i in range(8):
    x[i, ::3] = i
    x[i][1] = -i
    x[i:i + 2, 9] += 1
print(x, alias is x, copy.sum().item(), row, flat[30:40])
flat[5] = 100.0
row[0] = 7
print(x[0, 5].item(), x[3, 0].item(), alias[3, 0].item())
kept = x
x = x + 0
x[0, 0] = 55
print(kept[0, 0].item(), x[0, 0].item())

table = torch.zeros(16, 4)
for step in range(200):
    s, a = (step * 7) % 16, (step * 3) % 4
    table[s, a] += 0.1 * (step * 0.01 + 0.9 * table[(s + 1) % 16].max() - table[s, a])
print(table[:4], table.sum())

w = torch.ones(70, requires_grad=True)
y = w * 2
y[10:20] = 0
y[0] = w[1] * 5
y.sum().backward()
print(w.grad[:3], w.grad[9:12])

buffer = torch.zeros(100)
history = []
for i in range(5):
    history.append(buffer)
    buffer[i * 20:(i + 1) * 20] = torch.arange(20.0) + i
    buffer = buffer.clone() if i == 2 else buffer
print([h.sum().item() for h in history])

counts = torch.zeros(80, dtype=torch.long)
counts[3] = 4
counts[5:8] = torch.tensor([1, 2, 3])
counts[-1] += 9
print(counts[:10], counts.sum())
small = torch.zeros(70, dtype=torch.uint8)
small[1:3] = torch.tensor([300, 7])
print(small[:4])
mask = torch.zeros(70, dtype=torch.bool)
mask[2:4] = True
print(mask[:6])
empty = torch.zeros(0, 64)
empty[:, 3] = 1
wide = torch.zeros(64, 3)
wide[:] = torch.tensor([1.0, 2.0, 3.0])
wide[5:5] = 9
wide[2] = torch.tensor([[4.0, 5.0, 6.0]])
print(wide[:4], wide.sum())
for index in [64, -65, (0, 3), (slice(0, 2), 0, 0)]:
    try:
        wide[index] = 1
    except IndexError as error:
        print(error)
try:
    wide[0:2] = torch.zeros(3, 3)
except RuntimeError as error:
    print(error)
