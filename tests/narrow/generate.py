"""PyTorch's own results of 16 bits, on the CPU: what eager PyTorch gives for the oracle's operator calls in bf16 and f16.

    python generate.py OUT_DIR          (needs torch, numpy, safetensors)

The cases are those of ../oracle/generate.py whose float operands can be of 16 bits: what PyTorch has no kernel for on the CPU, and
results of more than LARGEST elements, are left out. The format is that of ../oracle, and `tols` has [rtol, atol] for each result and
gradient. They follow from what PyTorch's own results are off:

  rtol  one and a half units in the last place: one that PyTorch's result may be off, and the half that rounding ours once costs;
  atol  twice what PyTorch's result is off, where that is more than a unit, from the same call in f64 on the same 16-bit operands; and
        a unit in the last place of a SHARE of the tensor's largest element, for gradients are made of results that were rounded
        themselves. Attention's are differences of such (a row's gradients less their mean, which kernels in the manner of
        FlashAttention take from the rounded result).
"""
import importlib.util, json, pathlib, sys
import numpy as np
import torch
from safetensors.torch import save_file

HERE = pathlib.Path(__file__).parent
spec = importlib.util.spec_from_file_location("oracle", HERE.parent / "oracle" / "generate.py")
oracle = importlib.util.module_from_spec(spec)
spec.loader.exec_module(oracle)

LARGEST = 2000
SHARE = {"scaled_dot_product_attention": 1.0}
ULP = {torch.bfloat16: 2.0**-7, torch.float16: 2.0**-10}
NAMES = {torch.bfloat16: "bf16", torch.float16: "f16"}


def call(c, ins, cotangents, attrs):
    """Results, and gradients of the sum of results times cotangents."""
    need = [c["grad"] and x.is_floating_point() for x in ins]
    xs = [x.clone().requires_grad_(g) for x, g in zip(ins, need)]
    outs = c["fn"](*xs, **attrs)
    outs = list(outs) if isinstance(outs, (tuple, list)) else [outs]
    if not any(need):
        return outs, [], []
    cts = cotangents([o for o in outs if o.requires_grad])
    given = iter(cts)
    cts = [next(given) if o.requires_grad else None for o in outs]
    pairs = [(o, g) for o, g in zip(outs, cts) if g is not None]
    grads = torch.autograd.grad([o for o, _ in pairs], [x for x, g in zip(xs, need) if g], [g for _, g in pairs], allow_unused=True)
    it = iter(grads)
    return outs, cts, [next(it) if g else None for g in need]


def tolerance(op, narrow, exact, dtype):
    if not narrow.is_floating_point():
        return [0.0, 0.0]
    ulp = ULP[dtype]
    a, b = narrow.detach().double(), exact.detach().double()
    fine = torch.isfinite(a) & torch.isfinite(b)
    if not fine.any():
        return [1.5 * ulp, 0.0]
    a, b = a[fine], b[fine]
    off = (a - b).abs()
    off = torch.where(off > ulp * b.abs(), off, torch.zeros_like(off)).max().item()
    return [1.5 * ulp, 2 * off + ulp * SHARE.get(op, 1 / 16) * b.abs().max().item()]


def main(out_dir, seed):
    tensors, manifest, left_out = {}, [], {}
    for dtype in (torch.bfloat16, torch.float16):
        for n, c in enumerate(oracle.CASES):
            rng = np.random.default_rng([seed, n])
            ins = [x.to(dtype) if x.is_floating_point() else x for x in c["make"](rng)]
            if not any(x.is_floating_point() for x in ins):
                continue
            if c["op"] in ("sort", "topk", "argsort") and not c["attrs"].get("stable"):
                left_out[f"{c['name']}/{NAMES[dtype]}"] = "equal elements, which PyTorch puts in any order"
                continue
            attrs = {k: (float("inf") if v == "inf" else v) for k, v in c["attrs"].items()}
            name = f"{c['name']}/{NAMES[dtype]}"
            random = lambda outs: [oracle.t(rng, *o.shape).to(dtype).to(o.dtype) for o in outs]
            try:
                outs, cts, grads = call(c, ins, random, attrs)
                wide = [x.double() if x.is_floating_point() else x for x in ins]
                exact, _, exact_grads = call(c, wide, lambda _: [g.double() for g in cts if g is not None], attrs)
            except (RuntimeError, NotImplementedError) as e:
                left_out[name] = str(e).splitlines()[0]
                continue
            every = ins + outs + [g for g in grads if g is not None]
            if max(x.numel() for x in every) > LARGEST:
                left_out[name] = "too large for this file"
                continue
            entry = dict(name=name, op=c["op"], attrs=oracle.js(c["attrs"]), tol=[0, 0], tols=[], inputs=[], outputs=[])

            def put(kind, i, x):
                key = f"{name}:{kind}{i}"
                x = x.detach()
                tensors[key] = (x.to(torch.int32) if x.dtype == torch.int64 else x).contiguous().clone()
                return key

            entry["inputs"] = [put("in", i, x) for i, x in enumerate(ins)]
            entry["outputs"] = [put("out", i, x) for i, x in enumerate(outs)]
            entry["tols"] = [tolerance(c["op"], x, y, dtype) for x, y in zip(outs, exact)]
            if grads:
                entry["cotangents"] = [None if g is None else put("ct", i, g) for i, g in enumerate(cts)]
                entry["grads"] = [None if g is None else put("grad", i, g) for i, g in enumerate(grads)]
                entry["tols"] += [tolerance(c["op"], x, y, dtype) for x, y in zip(grads, exact_grads) if x is not None]
            manifest.append(entry)
    save_file(tensors, f"{out_dir}/ops.safetensors")
    json.dump(dict(torch=torch.__version__, cases=manifest), open(f"{out_dir}/ops.json", "w"), separators=(",", ":"))
    for name, why in left_out.items():
        print(f"left out {name}: {why}")
    print(len(manifest), "cases,", len({m["op"] for m in manifest}), "operators")


if __name__ == "__main__":
    for f in (oracle.pointwise, oracle.reductions, oracle.shapes, oracle.linalg, oracle.nn): f()
    main(sys.argv[1], 1)
