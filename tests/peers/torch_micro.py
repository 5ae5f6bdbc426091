"""PyTorch's single operations on one NVIDIA GPU: the peers of `aludel bench --only operations`. Needs Triton for its timer.

    python tests/peers/torch_micro.py
"""

import torch
import torch.nn.functional as F
from triton.testing import do_bench

SIDE = 8192
COPY_WORDS = 1 << 30


def ms(function):
    return do_bench(function, warmup=50, rep=200, return_mode="median")


torch.manual_seed(0)
print(f"torch {torch.__version__} on {torch.cuda.get_device_name()}", flush=True)
for precision in ("highest", "high"):
    torch.set_float32_matmul_precision(precision)
    for n in (512, 1024, 2048, 4096, 8192):
        a, b = torch.randn(n, n, device="cuda"), torch.randn(n, n, device="cuda")
        t = ms(lambda: a @ b)
        print(f"matmul f32 {precision} {n}: {t:.4f} ms, {2 * n**3 / t / 1e9:.1f} TFLOP/s", flush=True)
        del a, b

a = torch.empty(COPY_WORDS, device="cuda")
b = torch.empty_like(a)
t = ms(lambda: b.copy_(a))
print(f"copy of {COPY_WORDS * 4 >> 20} MiB: {t:.4f} ms, {2 * 4 * COPY_WORDS / t / 1e6:.0f} GB/s", flush=True)
del a, b

x, r = torch.randn(SIDE, SIDE, device="cuda"), torch.rand(SIDE, SIDE, device="cuda")
w = torch.randn(SIDE, device="cuda")
operations = {
    "gelu": (3, lambda: F.gelu(x + w, approximate="tanh") + r),
    "softmax": (2, lambda: torch.softmax(x, -1)),
    "layer_norm": (2, lambda: F.layer_norm(x, x.shape[-1:], w, w)),
    "sum_rows": (1, lambda: x.sum(-1)),
    "sum_columns": (1, lambda: x.sum(0)),
}
for name, (squares, function) in operations.items():
    compiled = torch.compile(function)
    compiled()
    eager, fused = ms(function), ms(compiled)
    rate = squares * x.numel() * 4 / min(eager, fused) / 1e6
    print(f"{name} {SIDE}x{SIDE} f32: eager {eager:.4f} ms, compiled {fused:.4f} ms, {rate:.0f} GB/s", flush=True)
