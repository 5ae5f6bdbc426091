"""Mixed precision with automatic casts and a scaled loss: Micikevicius et al., 2017.

    aludel run examples/mixed_precision.py --device-type cpu
"""

import argparse

import torch
from torch import nn
from torch.amp import GradScaler, autocast

parser = argparse.ArgumentParser()
parser.add_argument("--steps", type=int, default=200)
parser.add_argument("--every", type=int, default=20)
parser.add_argument("--width", type=int, default=64)
parser.add_argument("--dtype", default="bfloat16", choices=["bfloat16", "float16"])
args = parser.parse_args()

torch.manual_seed(0)
device_type = "cuda" if torch.cuda.is_available() else "cpu"
dtype = getattr(torch, args.dtype)
model = nn.Sequential(nn.Linear(16, args.width), nn.GELU(), nn.Linear(args.width, args.width), nn.GELU(), nn.Linear(args.width, 4)).to(device_type)
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
scaler = GradScaler(device_type, init_scale=2.0 ** 12, growth_interval=50)
centres = torch.randn(4, 16)
for step in range(args.steps):
    labels = torch.randint(0, 4, (64,))
    inputs = (centres[labels] + 0.7 * torch.randn(64, 16)).to(device_type)
    with autocast(device_type, dtype=dtype):
        scores = model(inputs)
        loss = nn.functional.cross_entropy(scores.float(), labels.to(device_type))
    optimizer.zero_grad(set_to_none=True)
    scaler.scale(loss).backward()
    scaler.unscale_(optimizer)
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    scaler.step(optimizer)
    scaler.update()
    if step % args.every == 0 or step == args.steps - 1:
        print(f"step {step:3d}  loss {loss.item():.1f}  scale {scaler.get_scale():.0f}")
print(scores.dtype, loss.dtype, model[0].weight.dtype, model[0].weight.grad.dtype)
