import torch
from torch import nn
from torch.amp import GradScaler, autocast

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 4))
x, y = torch.randn(16, 8), torch.randint(0, 4, (16,))
with autocast("cpu", dtype=torch.bfloat16):
    out = model(x)
    print(out.dtype, (x @ x.T).dtype, (x + 1).dtype)
    with torch.autocast(device_type="cpu", enabled=False):
        print(model(x).dtype)
print(model(x).dtype, model[0].weight.dtype)


@torch.autocast("cpu", dtype=torch.bfloat16)
def forward(x):
    return model(x)


print(forward(x).dtype)
optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
for step in range(20):
    optimizer.zero_grad()
    with torch.autocast("cpu", dtype=torch.bfloat16):
        loss = nn.functional.cross_entropy(model(x).float(), y)
    loss.backward()
    optimizer.step()
print(loss.dtype, model[0].weight.grad.dtype, loss.item() < 1.3)

scaler = GradScaler("cpu", init_scale=1024.0, growth_interval=2)
w = torch.tensor([1.0, 2.0], requires_grad=True)
sgd = torch.optim.SGD([w], lr=0.1)
for step in range(5):
    sgd.zero_grad()
    loss = (w * w).sum() * (float("inf") if step == 2 else 1.0)
    scaler.scale(loss).backward()
    if step == 1:
        scaler.unscale_(sgd)
        print(nn.utils.clip_grad_norm_([w], 1.0))
    scaler.step(sgd)
    scaler.update()
    print(step, w.detach(), scaler.get_scale())
print(scaler.state_dict())
again = GradScaler("cpu")
again.load_state_dict(scaler.state_dict())
print(again.get_scale(), GradScaler("cpu", enabled=False).scale(w) is w, torch.amp.GradScaler("cpu", enabled=False).get_scale())
try:
    scaler.scale(w.sum()).backward()
    scaler.unscale_(sgd)
    scaler.unscale_(sgd)
except RuntimeError as error:
    print(error)
