"""PyTorch's own samples (op_db) as calls through the torch module: functions, methods, in-place methods and aliases, with values and gradients.

    python generate.py OUT SEED CAP     # torch, numpy, scipy and expecttest from PyPI; a minute for CAP 12, some 15,000 calls

Writes OUT/000.pt .. of 400 calls each, in a random order, for check.py beside this file. Left out are calls whose arguments are no tensors,
numbers or names, float64 complex numbers, types that are not there, and integers beyond 32 bits. References are PyTorch's own results.
"""
import collections
import random
import sys
import warnings

import numpy as np
import torch
from torch.testing._internal.common_methods_invocations import op_db

warnings.filterwarnings("ignore")
torch.set_num_threads(1)
OUT, SEED, CAP = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
TYPES = [torch.float32, torch.int64, torch.bool, torch.complex64, torch.float64, torch.bfloat16, torch.uint8]
STORED = {torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8,
          torch.bool, torch.complex64}
# Their elements are whatever lies in memory.
SKIPPED = {"empty", "empty_like", "new_empty", "new_empty_strided", "empty_strided", "empty_permuted", "resize_", "resize_as_"}


class Unstored(Exception):
    pass


def is_tensor(v):
    return isinstance(v, torch.Tensor)


def tree(v, f):
    if is_tensor(v):
        return f(v)
    if isinstance(v, torch.Size):
        return list(v)
    if isinstance(v, (list, tuple)):
        made = [tree(x, f) for x in v]
        return made if isinstance(v, list) else tuple(made)
    return {k: tree(x, f) for k, x in v.items()} if isinstance(v, dict) else v


def tensors(v, out):
    if is_tensor(v):
        out.append(v)
    elif isinstance(v, (list, tuple)):
        [tensors(x, out) for x in v]
    elif isinstance(v, dict):
        [tensors(x, out) for x in v.values()]
    return out


def plain(v):
    if is_tensor(v):
        return v.layout == torch.strided and not v.is_quantized
    if isinstance(v, (list, tuple)):
        return all(plain(x) for x in v)
    if isinstance(v, dict):
        return all(plain(x) for x in v.values())
    return isinstance(v, (bool, int, float, complex, str, type(None), torch.dtype))


def resolve(name):
    found = torch
    for part in name.split("."):
        if not hasattr(found, part):
            return None
        found = getattr(found, part)
    return found if callable(found) else None


def dense(x):
    return x.detach().clone().resolve_conj().resolve_neg()


def leaf(x):
    return dense(x).requires_grad_(True) if x.requires_grad else dense(x)


def flat(o, out):
    if is_tensor(o):
        out.append(dense(o))
    elif isinstance(o, (list, tuple)):
        [flat(x, out) for x in o]
    else:
        out.append(o if isinstance(o, (bool, int, float, complex, str)) else str(o))
    return out


def stored(v):
    """As any version of the format has it: pairs for complex numbers, names for types."""
    if is_tensor(v):
        if v.dtype not in STORED:
            raise Unstored(str(v.dtype))
        if v.is_complex():
            return {"__complex": torch.view_as_real(v.detach()).contiguous(), "grad": v.requires_grad}
        if v.dtype == torch.int64 and v.numel() and (int(v.max()) > 2**31 - 1 or int(v.min()) < -2**31):
            raise Unstored("integers of 64 bits")
        return v
    if isinstance(v, complex):
        return {"__number": (v.real, v.imag)}
    if isinstance(v, torch.dtype):
        return {"__dtype": str(v)[6:]}
    if isinstance(v, (list, tuple)):
        return type(v)(stored(x) for x in v)
    return {k: stored(x) for k, x in v.items()} if isinstance(v, dict) else v


def forms_of(op):
    forms = ["torch." + op.name] if resolve(op.name) else []
    if op.method_variant and hasattr(torch.Tensor, op.name):
        forms.append("Tensor." + op.name)
    if op.inplace_variant is not None and hasattr(torch.Tensor, op.name + "_"):
        forms.append("Tensor." + op.name + "_")
    return forms + ["torch." + a.name for a in op.aliases if resolve(a.name)]


def call(op, form, kind, number, sample, grad):
    args = [tree(sample.input, leaf)] + [tree(x, leaf) for x in sample.args]
    kwargs = tree(dict(sample.kwargs), leaf)
    if not plain(args) or not plain(kwargs):
        raise Unstored("arguments")
    if sum(t.numel() for t in tensors([args, kwargs], [])) > 20000:
        raise Unstored("large")
    in_place = form.startswith("Tensor.") and form.endswith("_") and not form.endswith("__")
    if in_place:
        args[0] = args[0].detach()
    given = [tree(args, leaf), tree(kwargs, leaf)]
    torch.manual_seed(3)
    function = resolve(form[6:]) if form.startswith("torch.") else getattr(torch.Tensor, form[7:])
    try:
        made = function(*given[0], **given[1])
    except Exception:
        raise Unstored("refused by PyTorch")
    if any(t.layout != torch.strided for t in tensors([made], [])):
        raise Unstored("layout")
    case = {"name": f"{op.name}/{op.variant_test_name}/{str(kind)[6:]}/{number}", "fn": form, "args": args, "kwargs": kwargs, "out": flat(made, [])}
    outs = [x for x in tensors([made], []) if x.requires_grad]
    ins = [x for x in tensors(given, []) if x.requires_grad]
    if grad and not in_place and outs and ins:
        cotangents = [torch.randn(x.shape, generator=torch.Generator().manual_seed(5)).to(x.dtype) for x in outs]
        try:
            found = torch.autograd.grad(outs, ins, cotangents, allow_unused=True)
        except Exception:
            return stored(case)
        case["cotangents"] = cotangents
        case["grads"] = [None if g is None else dense(g.to_dense() if g.layout != torch.strided else g) for g in found]
    return stored(case)


cases, left = [], collections.Counter()
for op in op_db:
    forms = forms_of(op)
    if op.name in SKIPPED or not forms:
        continue
    for kind in TYPES:
        if kind not in op.supported_dtypes("cpu"):
            continue
        source = random.Random(f"{op.name}{kind}{SEED}")
        torch.manual_seed(source.randrange(1 << 30)), np.random.seed(source.randrange(1 << 30)), random.seed(source.randrange(1 << 30))
        grad = kind in (torch.float32, torch.complex64) and op.supports_autograd
        try:
            samples = list(op.sample_inputs("cpu", kind, requires_grad=grad))
        except Exception:
            continue
        most = CAP if kind in (torch.float32, torch.int64) else max(2, CAP // 3)
        for k, sample in enumerate(source.sample(samples, most) if len(samples) > most else samples):
            try:
                cases.append(call(op, forms[k % len(forms)], kind, k, sample, grad))
            except Unstored as reason:
                left[str(reason)] += 1
random.Random(1).shuffle(cases)
for i in range(0, len(cases), 400):
    torch.save(cases[i:i + 400], f"{OUT}/{i // 400:03}.pt")
print(len(cases), "calls; left out:", dict(left))
