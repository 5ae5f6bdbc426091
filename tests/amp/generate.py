"""What PyTorch makes of mixed precision: writes amp.json beside this file. Run with PyTorch 2.x on a CPU.

`autocast`: losses of a perceptron and a small GPT under SGD, all in f32, and in bf16 by the lists of CUDA's autocast, which the mode below
applies to CPU tensors (CPU autocast has lists of its own). `scaler`: torch.amp.GradScaler's scale, step by step, with infinite gradients
in some steps, for several optimizers, with and without clipping.
"""

import json
import math
import pathlib

import torch
import torch.nn.functional as F
from torch.overrides import TorchFunctionMode

LOW = {"linear", "matmul", "__matmul__", "bmm", "mm", "scaled_dot_product_attention"}
FULL = {"layer_norm", "cross_entropy", "softmax", "log_softmax", "sum", "exp", "pow", "mse_loss"}


class CudaLists(TorchFunctionMode):
    def __init__(self, low):
        super().__init__()
        self.low = low

    def __torch_function__(self, func, types, args=(), kwargs=None):
        to = self.low if func.__name__ in LOW else torch.float32 if func.__name__ in FULL else None
        cast = lambda x: x.to(to) if to and isinstance(x, torch.Tensor) and x.is_floating_point() else x
        return func(*map(cast, args), **{k: cast(v) for k, v in (kwargs or {}).items()})


def fill(k, shape):
    """The k-th parameter: the same numbers on both sides."""
    n = math.prod(shape)
    scale = 1.5 / math.sqrt(shape[-1])
    return torch.tensor([scale * math.sin(1.3 * i + 0.7 * k) for i in range(n)], dtype=torch.float32).reshape(shape)


def mlp(p, x, y):
    h = torch.relu(F.linear(x, p[0], p[1]))
    h = torch.tanh(F.linear(h, p[2], p[3]))
    return F.cross_entropy(F.linear(h, p[4], p[5]), y)


def gpt(p, ids, next_ids):
    """Aludel's `Gpt` of one layer, width 16, 2 heads: parameters in the order of its tree."""
    tok, pos, ln1w, ln1b, qkvw, qkvb, projw, projb, ln2w, ln2b, upw, upb, downw, downb, lnw, lnb, head = p
    b, t = ids.shape
    x = F.embedding(ids, tok) + pos[:t]
    q, k, v = F.linear(F.layer_norm(x, (16,), ln1w, ln1b), qkvw, qkvb).split(16, -1)
    heads = lambda a: a.reshape(b, t, 2, 8).transpose(1, 2)
    y = F.scaled_dot_product_attention(heads(q), heads(k), heads(v), is_causal=True)
    x = x + F.linear(y.transpose(1, 2).reshape(b, t, 16), projw, projb)
    up = F.gelu(F.linear(F.layer_norm(x, (16,), ln2w, ln2b), upw, upb), approximate="tanh")
    x = x + F.linear(up, downw, downb)
    logits = F.linear(F.layer_norm(x, (16,), lnw, lnb), head)
    return F.cross_entropy(logits.reshape(-1, 11), next_ids.reshape(-1))


MLP = [(16, 4), (16,), (8, 16), (8,), (3, 8), (3,)]
GPT = [(11, 16), (8, 16), (16,), (16,), (48, 16), (48,), (16, 16), (16,), (16,), (16,), (64, 16), (64,), (16, 64), (16,), (16,), (16,), (11, 16)]


def train(loss, shapes, batch, lr, low):
    params = [fill(k, s).requires_grad_() for k, s in enumerate(shapes)]
    out = []
    for _ in range(8):
        if low:
            with CudaLists(low):
                l = loss(params, *batch)
        else:
            l = loss(params, *batch)
        grads = torch.autograd.grad(l, params)
        assert all(g.dtype == torch.float32 for g in grads)
        with torch.no_grad():
            for p, g in zip(params, grads):
                p -= lr * g
        out.append(l.item())
    return out


def autocast():
    x = fill(100, (12, 4)) * 2
    y = torch.arange(12) % 3
    ids = (torch.arange(4 * 8).reshape(4, 8) * 7 + 3) % 11
    cases = {"mlp": (mlp, MLP, (x, y), 0.2), "gpt": (gpt, GPT, (ids, (ids * 3 + 1) % 11), 0.05)}
    return {
        name: {str(low or torch.float32).split(".")[-1]: train(f, s, b, lr, low) for low in (None, torch.bfloat16, torch.float16)}
        for name, (f, s, b, lr) in cases.items()
    }


def scaler():
    """One parameter of two numbers; the gradient is `x`, infinite or NaN in some steps."""
    bad = {1: math.inf, 6: math.nan, 7: -math.inf}
    out = {}
    for name, make in {
        "sgd": lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9),
        "adamw": lambda p: torch.optim.AdamW(p, lr=0.1),
    }.items():
        for clip in (False, True):
            w = torch.tensor([1.0, -2.0], requires_grad=True)
            optimizer = make([w])
            s = torch.amp.GradScaler("cpu", init_scale=1024.0, growth_interval=3)
            rows = []
            for step in range(14):
                x = torch.tensor([0.5 + step, bad.get(step, -1.0)])
                optimizer.zero_grad()
                s.scale((w * x).sum()).backward()
                if clip:
                    s.unscale_(optimizer)
                    torch.nn.utils.clip_grad_norm_([w], 1.0)
                s.step(optimizer)
                s.update()
                rows.append({"scale": s.get_scale(), "tracker": s._get_growth_tracker(), "w": w.tolist()})
            out[name + ("_clip" if clip else "")] = rows
    return out


out = {"torch": torch.__version__, "autocast": autocast(), "scaler": scaler()}
path = pathlib.Path(__file__).with_name("amp.json")
path.write_text(json.dumps(out, indent=1) + "\n")
