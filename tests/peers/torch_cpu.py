"""PyTorch's training steps on the CPU, eager and torch.compile: median milliseconds, AdamW, f32.

    python tests/peers/torch_cpu.py [tiny,mlp,cnn,tinygpt,chargpt] [THREADS]

`aludel bench --peer torch` runs it beside our own. Each line: peer WORKLOAD MODE ms MILLISECONDS ..
"""

import os
import sys
import time

import torch

from torch_models import make, training_step

SECONDS = 4

# PyTorch's own compiler reads the command line of the process that it is in.
arguments, sys.argv = sys.argv[1:], sys.argv[:1]
names = (arguments[0] if arguments else "tiny,mlp,cnn,tinygpt,chargpt").split(",")
threads = int(arguments[1]) if len(arguments) > 1 else os.cpu_count()
torch.set_num_threads(threads)
print(f"torch {torch.__version__} on {threads} threads", flush=True)

for name in names:
    for mode in ("eager", "compile"):
        try:
            torch._dynamo.reset()
            torch.manual_seed(0)
            model, x, y, batch = make(name, on_cpu=True)
            step = training_step(model, x, y, torch.compile if mode == "compile" else (lambda module: module))

            begin = time.perf_counter()
            step()
            cold = time.perf_counter() - begin
            for _ in range(5):
                step()
            times, begin = [], time.perf_counter()
            while time.perf_counter() - begin < SECONDS or len(times) < 5:
                t = time.perf_counter()
                step()
                times.append((time.perf_counter() - t) * 1e3)
            ms = sorted(times)[len(times) // 2]
            print(f"peer {name} {mode} ms {ms:.4f} samples/s {batch / ms * 1e3:.1f} cold_s {cold:.2f}", flush=True)
        except Exception as e:  # One that fails is no reason to leave the others out.
            print(f"failed {name} {mode}: {e!r}"[:400], file=sys.stderr, flush=True)
