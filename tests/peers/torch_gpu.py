"""PyTorch's training steps on one NVIDIA GPU: median milliseconds, AdamW.

    python tests/peers/torch_gpu.py [WORKLOADS] [fp32,tf32,bf16] [eager,compile,graphs] [SECONDS]

`graphs` is torch.compile with mode="reduce-overhead": CUDA graphs. `aludel bench --device cuda --peer torch` runs it beside our
own. Each line: peer WORKLOAD PRECISION MODE ms MILLISECONDS ..; after SECONDS nothing new is begun.
"""

import sys
import time

import torch

from torch_models import make, training_step

arguments, sys.argv = sys.argv[1:], sys.argv[:1]
names = (arguments[0] if arguments else "tiny,mlp,cnn,tinygpt,chargpt,gpt2").split(",")
precisions = (arguments[1] if len(arguments) > 1 else "fp32,tf32").split(",")
modes = (arguments[2] if len(arguments) > 2 else "eager,compile,graphs").split(",")
budget = float(arguments[3]) if len(arguments) > 3 else 560

WARM, TIMED = 10, 50

begin = time.time()
print(f"torch {torch.__version__} on {torch.cuda.get_device_name()}", flush=True)
for name, precision, mode in ((n, p, m) for n in names for p in precisions for m in modes):
    if time.time() - begin > budget:
        print(f"the time is spent: {name} {precision} {mode} left out", file=sys.stderr, flush=True)
        continue
    try:
        torch._dynamo.reset()
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats()
        torch.set_float32_matmul_precision("highest" if precision == "fp32" else "high")
        torch.manual_seed(0)
        model, x, y, batch = make(name, on_cpu=False)
        model, x, y = model.cuda().train(), x.cuda(), y.cuda()
        options = {"eager": None, "compile": {}, "graphs": {"mode": "reduce-overhead"}}[mode]
        compiled = (lambda module: module) if options is None else (lambda module: torch.compile(module, **options))
        amp = lambda: torch.autocast("cuda", torch.bfloat16, enabled=precision == "bf16")
        step = training_step(model, x, y, compiled, amp)

        t = time.time()
        step()
        torch.cuda.synchronize()
        cold = time.time() - t
        for _ in range(WARM):
            step()
        torch.cuda.synchronize()
        # Wall time of many steps: what the host cannot hide counts too.
        walls = []
        for _ in range(3):
            t = time.perf_counter()
            for _ in range(TIMED):
                step()
            torch.cuda.synchronize()
            walls.append((time.perf_counter() - t) / TIMED * 1e3)
        ms = sorted(walls)[1]
        peak = torch.cuda.max_memory_allocated() / 1e6
        print(
            f"peer {name} {precision} {mode} ms {ms:.4f} samples/s {batch / ms * 1e3:.1f} peak_MB {peak:.1f} cold_s {cold:.2f}",
            flush=True,
        )
        del model, step, x, y
    except Exception as e:  # One that fails is no reason to leave the others out.
        print(f"failed {name} {precision} {mode}: {e!r}"[:400], file=sys.stderr, flush=True)
