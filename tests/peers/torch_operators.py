"""PyTorch's operators one by one in an eager loop: the peers of `aludel bench --only operators --peer torch`, which runs this.

    python tests/peers/torch_operators.py DEVICE PRECISION < REQUESTS

Standard input is [[name, size, [[dtype, shape, values], ..]], ..] in JSON: operands of numbers from -1 to 1, of those without
signs where `values` is "positive", or of integers below `values`.
Each line: peer NAME SIZE ms MILLISECONDS. Dispatch counts: it is the wall time of a loop of calls that ends when the device is done.
"""

import json
import sys
import time

import torch
import torch.nn.functional as F

SLICES, SLICE_SECONDS = 5, 0.02
DTYPES = {"f32": torch.float32, "bf16": torch.bfloat16, "f16": torch.float16, "bool": torch.bool, "u32": torch.int64, "i32": torch.int64}

OPERATORS = {
    "add": lambda a, b: a + b,
    "add_bias": lambda a, b: a + b,
    "mul_scalar": lambda a: a * 1.5,
    "relu": F.relu,
    "gelu": lambda a: F.gelu(a, approximate="tanh"),
    "sigmoid": torch.sigmoid,
    "clamp": lambda a: a.clamp(-0.5, 0.5),
    "pow": lambda a: a.pow(3),
    "where": torch.where,
    "addcmul": torch.addcmul,
    "to_bf16": lambda a: a.to(torch.bfloat16),
    "add_bf16": lambda a, b: a + b,
    "dropout": lambda a, k: F.dropout(a, 0.5, True),
    "sum_rows": lambda a: a.sum(-1),
    "sum_columns": lambda a: a.sum(0),
    "sum_all": lambda a: a.sum(),
    "mean_all": lambda a: a.mean(),
    "amax_rows": lambda a: a.amax(-1),
    "max_rows": lambda a: a.max(-1),
    "argmax": lambda a: a.argmax(-1),
    "var_rows": lambda a: a.var(-1),
    "norm": lambda a: torch.linalg.vector_norm(a),
    "logsumexp": lambda a: a.logsumexp(-1),
    "cumsum_rows": lambda a: a.cumsum(-1),
    "cumsum_columns": lambda a: a.cumsum(0),
    "cumsum_long": lambda a: a.cumsum(0),
    "cumprod": lambda a: a.cumprod(-1),
    "sort": lambda a: a.sort(dim=-1, stable=True),
    "sort_long": lambda a: a.sort(dim=0, stable=True),
    "topk": lambda a: a.topk(8),
    "softmax": lambda a: torch.softmax(a, -1),
    "log_softmax": lambda a: torch.log_softmax(a, -1),
    "layer_norm": lambda a, w, b: F.layer_norm(a, w.shape, w, b),
    "rms_norm": lambda a, w: F.rms_norm(a, w.shape, w),
    "group_norm": lambda a, w, b: F.group_norm(a, 8, w, b),
    "batch_norm_train": lambda a, m, v, w, b: F.batch_norm(a, m, v, w, b, training=True),
    "batch_norm_eval": lambda a, m, v, w, b: F.batch_norm(a, m, v, w, b),
    "matmul": torch.matmul,
    "matmul_bf16": torch.matmul,
    "mv": torch.mv,
    "bmm": torch.bmm,
    "linear": F.linear,
    "einsum": lambda a, b: torch.einsum("bqhd,bkhd->bhqk", a, b),
    "attention": lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=True),
    "conv2d_3x3": lambda x, w, b: F.conv2d(x, w, b, padding=1),
    "conv2d_1x1": F.conv2d,
    "conv2d_strided": lambda x, w, b: F.conv2d(x, w, b, padding=3, stride=2),
    "conv2d_depthwise": lambda x, w, b: F.conv2d(x, w, b, padding=1, groups=w.shape[0]),
    "conv_transpose2d": lambda x, w, b: F.conv_transpose2d(x, w, b, stride=2, padding=1, output_padding=1),
    "conv1d": lambda x, w, b: F.conv1d(x, w, b, padding=2),
    "max_pool2d": lambda x: F.max_pool2d(x, 3, 2, 1),
    "avg_pool2d": lambda x: F.avg_pool2d(x, 2),
    "adaptive_avg_pool2d": lambda x: F.adaptive_avg_pool2d(x, 1),
    "interpolate_nearest": lambda x: F.interpolate(x, scale_factor=2),
    "interpolate_bilinear": lambda x: F.interpolate(x, scale_factor=2, mode="bilinear"),
    "embedding": lambda w, i: F.embedding(i, w),
    "index_select": lambda a, i: a.index_select(0, i),
    "gather": lambda a, i: a.gather(0, i),
    "scatter_add": lambda a, i, s: a.scatter_add(0, i, s),
    "index_add": lambda a, i, s: a.index_add(0, i, s),
    # Views there; here results are always laid out in order.
    "transpose": lambda a: a.t().contiguous(),
    "permute": lambda a: a.permute(0, 2, 1, 3).contiguous(),
    "cat": lambda a, b: torch.cat([a, b], 1),
    "stack": lambda a, b: torch.stack([a, b]),
    "pad": lambda a: F.pad(a, [1, 1, 1, 1]),
    "flip": lambda a: a.flip(1),
    "roll": lambda a: a.roll(3, 1),
    "tril": lambda a: a.tril(),
    "cross_entropy": F.cross_entropy,
    "mse_loss": F.mse_loss,
    "bce_with_logits": F.binary_cross_entropy_with_logits,
    "fft": lambda x: torch.fft.fft(torch.view_as_complex(x)),
    "rfft": torch.fft.rfft,
    "lstm_cell": lambda x, h, c, wi, wh, bi, bh: torch.lstm_cell(x, (h, c), wi, wh, bi, bh),
    "gru_cell": lambda x, h, wi, wh, bi, bh: torch.gru_cell(x, h, wi, wh, bi, bh),
    # Optimizers as PyTorch has them, one parameter each.
    "sgd_step": lambda p, g, lr: torch.optim.SGD([p], lr=1e-3, fused=p.is_cuda or None),
    "adamw_step": lambda p, g, m, v, t, lr: torch.optim.AdamW([p], lr=1e-3, fused=p.is_cuda or None),
    "clip_grad_norm": lambda p: torch.nn.utils.clip_grad_norm_([p], 1.0),
}


def call_of(name, operands):
    call = OPERATORS[name]
    if name.endswith("_step"):
        operands[0].grad = operands[1]
        return call(*operands).step
    if name == "clip_grad_norm":
        operands[0].grad = operands[0].clone()
    return lambda: call(*operands)


def main():
    device, precision = sys.argv[1], sys.argv[2]
    torch.set_float32_matmul_precision(precision)
    if device == "cuda":
        # Convolutions in the same precision as matrix products.
        torch.backends.cudnn.allow_tf32 = precision != "highest"
        print(f"torch {torch.__version__} on {torch.cuda.get_device_name()}", flush=True)
    wait = torch.cuda.synchronize if device == "cuda" else lambda: None

    def operand(dtype, shape, values):
        if dtype == "bool":
            return torch.randint(2, shape, device=device, dtype=torch.bool)
        if dtype in ("i32", "u32"):
            return torch.randint(values or 1 << 30, shape, device=device)
        noise = torch.rand(shape, device=device) * 2 - 1
        return (noise.abs() if values == "positive" else noise).to(DTYPES[dtype])

    for name, size, operands in json.load(sys.stdin):
        try:
            call = call_of(name, [operand(*o) for o in operands])
            for _ in range(3):
                call()
            wait()
            begin = time.perf_counter()
            call()
            wait()
            runs = max(1, min(5000, int(SLICE_SECONDS / max(time.perf_counter() - begin, 1e-6))))
            times = []
            for _ in range(SLICES):
                begin = time.perf_counter()
                for _ in range(runs):
                    call()
                wait()
                times.append((time.perf_counter() - begin) * 1e3 / runs)
            print(f"peer {name} {size} ms {sorted(times)[SLICES // 2]:.6f}", flush=True)
        except Exception as e:  # One that fails is no reason to leave the others out.
            print(f"failed {name} {size}: {e!r}"[:400], file=sys.stderr, flush=True)


with torch.no_grad():
    main()
