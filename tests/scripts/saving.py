import io
import os
import pickle
import torch
from torch import nn
from safetensors import safe_open
from safetensors.torch import load_file, save_file

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Linear(4, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
x = torch.randn(8, 3)


def step(model, optimizer):
    optimizer.zero_grad()
    loss = model(x).square().mean()
    loss.backward()
    optimizer.step()
    return loss.item()


for _ in range(3):
    step(model, optimizer)
torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(), "epoch": 3, "best": 0.25, "name": "run é", "sizes": (1, [2, None]),
            "flags": {"a": True}, "big": 2 ** 40, "negative": -7, "bytes": b"ab"}, "checkpoint.pt")
found = torch.load("checkpoint.pt", map_location="cpu", weights_only=True)
print(list(found), found["epoch"], found["best"], found["name"], found["sizes"], found["flags"], found["big"], found["negative"], found["bytes"])
again = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Linear(4, 1))
print(again.load_state_dict(found["model"]))
other = torch.optim.Adam(again.parameters(), lr=0.5)
other.load_state_dict(found["optimizer"])
print(other.param_groups[0]["lr"], [step(model, optimizer) == step(again, other) for _ in range(2)])
for value in (torch.arange(6).reshape(2, 3), torch.tensor(2.5), torch.ones(3, dtype=torch.bfloat16), torch.tensor([True, False]), torch.zeros(2, 0),
              torch.arange(6.).reshape(2, 3).T, torch.randn(4, requires_grad=True), nn.Parameter(torch.ones(2)), torch.arange(5, dtype=torch.uint8)[1:3],
              [torch.ones(1), {"k": torch.zeros(1, dtype=torch.float16)}], torch.Size([1, 2]), torch.float16, "text", 3, None):
    buffer = io.BytesIO()
    torch.save(value, buffer)
    buffer.seek(0)
    print(torch.load(buffer))

save_file(model.state_dict(), "model.safetensors", metadata={"format": "pt"})
tensors = load_file("model.safetensors")
print(sorted(tensors), all(torch.equal(tensors[k], v) for k, v in model.state_dict().items()))
with safe_open("model.safetensors", framework="pt") as f:
    print(f.metadata(), sorted(f.keys()), f.get_tensor("0.bias").shape)

# A file of PyTorch's own.
theirs = torch.load("files/pytorch.pt")
print(theirs["w"], theirs["view"], theirs["half"], theirs["long"], theirs["list"], theirs["shared"][0])

print(pickle.loads(pickle.dumps({"a": [1, 2.5, "x", (True, None)], "b": {3}})))
data = open("checkpoint.pt", "rb").read()
for name, damaged in (("cut", data[:100]), ("text", b"not a file"), ("empty", b"")):
    with open("damaged.pt", "wb") as f:
        f.write(damaged)
    try:
        torch.load("damaged.pt")
    except Exception as error:
        print(name, type(error).__name__)
try:
    torch.load("missing.pt")
except FileNotFoundError as error:
    print(error)
for name in ("checkpoint.pt", "model.safetensors", "damaged.pt"):
    os.remove(name)
