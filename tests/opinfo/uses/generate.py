"""PyTorch's descriptions of its modules, optimizers and refused calls (module_db, optim_db, error_inputs) as plain scripts.

    python generate.py OUT      # torch, numpy, scipy, expecttest from PyPI; some 4,000 cases, with those of `tests/scripts` that are written by hand and
                                # `words.txt`: calls that aludel refuses in words of its own

Writes OUT/KIND_NNN.py, which need nothing but torch and `cases` of `tests/scripts`: a line for each case. `compare.py record OUT` runs them in
PyTorch, `compare.py check OUT BINARY` in aludel, and says what differs.
"""
import inspect
import math
import pathlib
import random
import sys
import types
import warnings

import torch
import torch.nn.functional as F
from torch import nn

warnings.filterwarnings("ignore")
HERE = pathlib.Path(__file__).parent
SCRIPTS = HERE.parent.parent / "scripts"
NAMES = {torch.float32: "f32", torch.float64: "f64", torch.bfloat16: "bf16", torch.float16: "f16", torch.int64: "i64"}


class Unwritten(Exception):
    pass


def short(v):
    return float(f"{v:.4g}") if isinstance(v, float) and math.isfinite(v) else v


def values(x):
    text = repr([short(v) for v in x.reshape(-1).tolist()]) if x.dim() != 1 else repr([short(v) for v in x.tolist()])
    return text.replace(" ", "")


def tensor(x):
    x = x.detach() if not x.requires_grad else x
    grad = ", g=True" if x.requires_grad else ""
    d = x.detach()
    if d.is_meta or d.layout != torch.strided or d.is_quantized or d.numel() > 3000:
        raise Unwritten("tensor")
    kind = NAMES.get(d.dtype, str(d.dtype))
    shape = tuple(d.shape)
    if d.is_floating_point() and d.numel() > 6 and len(set(d.reshape(-1).tolist())) > 3 and bool(torch.isfinite(d).all()):
        low, high = short(float(d.min())), short(float(d.max()))
        k = "" if d.dtype == torch.float32 else f", k={kind}"
        COUNT[0] += 1
        return f"U({low}, {high}, {', '.join(map(str, shape))}, s={COUNT[0]}{k}{grad})"
    if d.dtype == torch.bool and d.numel() > 12 and not d.any():
        return f"torch.zeros({shape}, dtype=torch.bool)"
    return f"L({values(d)}, {kind}{'' if d.dim() == 1 else f', {shape}'}{grad})"


COUNT = [0]


def src(v):
    if isinstance(v, torch.Tensor):
        return tensor(v)
    if v is None or isinstance(v, (bool, int, float, complex, str)) or v is Ellipsis:
        return repr(v)
    if isinstance(v, (torch.dtype, torch.memory_format, torch.layout)):
        return NAMES.get(v, str(v)) if isinstance(v, torch.dtype) else str(v)
    if isinstance(v, torch.device):
        return repr(str(v))
    if isinstance(v, torch.Size):
        return f"torch.Size({list(v)})"
    if type(v) is tuple:
        return "(" + "".join(src(x) + ", " for x in v).rstrip(" ") + ")" if len(v) < 2 else "(" + ", ".join(map(src, v)) + ")"
    if type(v) is list:
        return "[" + ", ".join(map(src, v)) + "]"
    if type(v) is dict:
        return "{" + ", ".join(f"{src(a)}: {src(b)}" for a, b in v.items()) + "}"
    if isinstance(v, slice):
        return f"slice({src(v.start)}, {src(v.stop)}, {src(v.step)})"
    for space, word in ((torch.Tensor, "torch.Tensor"), (torch, "torch"), (F, "F"), (nn, "nn")):
        name = getattr(v, "__name__", None)
        if name and getattr(space, name, None) is v:
            return f"{word}.{name}"
    if isinstance(v, nn.TransformerEncoderLayer):
        return (f"nn.TransformerEncoderLayer({v.self_attn.embed_dim}, {v.self_attn.num_heads}, {v.linear1.out_features}, {v.dropout.p}, "
                f"batch_first={v.self_attn.batch_first}, norm_first={v.norm_first}, bias={v.linear1.bias is not None}, activation={src(v.activation)})")
    if isinstance(v, (nn.Module,)) and not list(v.children()) and not list(v.parameters()):
        return f"nn.{v!r}"
    raise Unwritten(type(v).__name__)


def call(name, args, kwargs):
    return f"{name}({', '.join([*map(src, args), *[f'{k}={src(v)}' for k, v in kwargs.items()]])})"


def pair(args, kwargs):
    return f"({src(tuple(args))}, {src(dict(kwargs))})"


left = {}


def leave(why):
    left[str(why)] = left.get(str(why), 0) + 1


def some(cases, most, seed=5):
    """At most so many of a name, in their order."""
    groups = {}
    for c in cases:
        groups.setdefault(c.split(" ")[0], []).append(c)
    r = random.Random(seed)
    for group in groups.values():
        yield from (group if len(group) <= most else [group[i] for i in sorted(r.sample(range(len(group)), most))])


def modules():
    """What module_db makes, in both modes, and what its error inputs describe."""
    from torch.testing._internal.common_modules import module_db
    for info in module_db:
        if not info.name.startswith("nn."):
            continue
        seen = set()
        for training in (True, False):
            torch.manual_seed(3)
            for n, m in enumerate(info.module_inputs_func(info, device="cpu", dtype=torch.float32, requires_grad=True, training=training)):
                COUNT[0] = 0
                c, f = m.constructor_input, m.forward_input
                if f is None:
                    continue
                try:
                    made = call(info.name, c.args, c.kwargs)
                    given = pair(f.args, f.kwargs)
                except Unwritten as e:
                    leave(f"{info.name} {e}")
                    continue
                if (made, given) in seen:
                    continue
                seen.add((made, given))
                yield f"M('{info.name[3:]} {n}{'' if training else ' e'}', lambda: {made}, lambda: {given})"


def module_errors():
    from torch.testing._internal.common_modules import module_db
    for info in module_db:
        if not info.name.startswith("nn.") or info.module_error_inputs_func is None:
            continue
        for training in (True, False):
            torch.manual_seed(3)
            for n, e in enumerate(info.module_error_inputs_func(info, device="cpu", dtype=torch.float32, requires_grad=False, training=training)):
                COUNT[0] = 0
                m = e.module_error_input
                try:
                    made = call(info.name, m.constructor_input.args, m.constructor_input.kwargs)
                    if m.forward_input is not None:
                        made += "(" + call("", m.forward_input.args, m.forward_input.kwargs)[1:-1] + ")"
                except Unwritten as e:
                    leave(f"{info.name} {e}")
                    continue
                if training or ".train" in made:
                    yield f"C('{info.name[3:]} error {n}', lambda: {made})"


def optimizers():
    from torch.testing._internal.common_optimizers import optim_db
    for info in optim_db:
        name = info.optim_cls.__name__
        shapes = "" if name != "Muon" else ", shapes=((3, 4), (5, 2))"
        extra = shapes + (", sparse=True" if name == "SparseAdam" else "") + (", closure=True" if name == "LBFGS" else "")
        flags = [{}] + [{f: True} for f in ("foreach", "fused", "maximize") if f in inspect.signature(info.optim_cls).parameters]
        flags += [{"foreach": False}] if "foreach" in inspect.signature(info.optim_cls).parameters else []
        n = 0
        for o in info.optim_inputs_func(device="cpu", dtype=torch.float32):
            for flag in flags:
                if any(k in o.kwargs for k in flag):
                    continue
                try:
                    kwargs = ", ".join(f"{k}={src(v)}" for k, v in {**o.kwargs, **flag}.items())
                except Unwritten as e:
                    leave(f"{name} {e}")
                    continue
                yield f"O('{name} {n} {o.desc} {'+'.join(map(str, flag))}', lambda ps: torch.optim.{name}(ps, {kwargs}){extra})"
                n += 1
        if name != "LBFGS":
            decay = "" if name == "SparseAdam" else ", weight_decay=0.1"
            groups = "[{'params': ps[:1], 'lr': 0.02}, {'params': ps[1:]}]"
            yield f"O('{name} groups', lambda ps: torch.optim.{name}({groups}, lr=0.01{decay}){extra})"
        yield f"O('{name} named', lambda ps: torch.optim.{name}([(f'p{{i}}', p) for i, p in enumerate(ps)], lr=0.01){extra})"
        yield f"O('{name} tensor lr', lambda ps: torch.optim.{name}(ps, lr=torch.tensor(0.01)){extra})"


def written(params):
    if isinstance(params, torch.Tensor):
        return f"nn.Parameter({tensor(params.detach())})" if isinstance(params, nn.Parameter) else tensor(params)
    if isinstance(params, list):
        return "[" + ", ".join(map(written, params)) + "]"
    if isinstance(params, dict):
        return "{" + ", ".join(f"{k!r}: {written(v)}" for k, v in params.items()) + "}"
    return src(params)


def optimizer_errors():
    from torch.testing._internal.common_optimizers import optim_db
    for info in optim_db:
        torch.manual_seed(3)
        for n, e in enumerate(info.optim_error_inputs_func(device="cpu", dtype=torch.float32)):
            COUNT[0] = 0
            o = e.optimizer_error_input
            name = info.optim_cls.__name__
            try:
                ps = "[nn.Parameter(U(-1, 1, 3, 4))]" if o.params is None else written(o.params)
                kwargs = ", ".join(f"{k}={src(v)}" for k, v in o.kwargs.items())
            except Unwritten as e:
                leave(f"{name} error {e}")
                continue
            made = f"torch.optim.{name}({ps}, {kwargs})"
            yield f"C('{name} error {n}', lambda: {made})"
            yield f"C('{name} error {n} step', lambda: {made}.step())"


def operator_errors():
    from torch.testing._internal.common_methods_invocations import op_db
    for op in op_db:
        if op.error_inputs_func is None or op.name.startswith("_refs"):
            continue
        forms = [f for f in (f"torch.{op.name}", f"torch.Tensor.{op.name}") if resolve(f)]
        for inplace in ((op.name + "_",) if op.inplace_variant is not None else ()):
            if hasattr(torch.Tensor, inplace):
                forms.append(f"torch.Tensor.{inplace}")
        torch.manual_seed(3)
        try:
            samples = list(op.error_inputs("cpu"))
        except Exception as e:
            leave(f"{op.name} {type(e).__name__}")
            continue
        for n, e in enumerate(samples):
            s = e.sample_input
            for form in forms:
                COUNT[0] = 0
                try:
                    made = call(form.replace("torch.nn.functional", "F"), (s.input, *s.args), s.kwargs)
                except Unwritten as why:
                    leave(f"{op.name} {why}")
                    continue
                if len(made) < 3000:
                    yield f"C('{op.name}{' ' + op.variant_test_name if op.variant_test_name else ''} {n} {form.split('.')[-2]}.{form.split('.')[-1]}', lambda: {made})"


def resolve(name):
    found = torch
    for part in name.split(".")[1:]:
        found = getattr(found, part, None)
    return found if callable(found) else None


def changed(shape, r):
    shape = list(shape)
    c = r.randrange(6)
    if c == 0 and shape:
        shape.pop(r.randrange(len(shape)))
    elif c == 1:
        shape.insert(r.randrange(len(shape) + 1), r.choice([1, 2, 7]))
    elif c == 2 and shape:
        shape[r.randrange(len(shape))] = 0
    elif c == 3 and shape:
        shape[r.randrange(len(shape))] = 1
    elif c == 4 and shape:
        shape[r.randrange(len(shape))] += r.choice([1, 2, 4])
    else:
        shape = [3]
    return shape


def module_changes():
    """Calls of modules with one thing changed: a shape, a type, a number or a word of the constructor."""
    from torch.testing._internal.common_modules import module_db
    r = random.Random(5)
    for info in module_db:
        if not info.name.startswith("nn."):
            continue
        torch.manual_seed(3)
        inputs = list(info.module_inputs_func(info, device="cpu", dtype=torch.float32, requires_grad=False, training=True))
        inputs = [m for m in inputs if m.forward_input is not None]
        seen = set()
        for n in range(16):
            m = inputs[n % len(inputs)] if inputs else None
            if m is None:
                break
            COUNT[0] = 0
            c = [list(m.constructor_input.args), dict(m.constructor_input.kwargs)]
            f = [list(m.forward_input.args), dict(m.forward_input.kwargs)]
            what = r.choice(["shape", "shape", "shape", "type", "number", "number", "arity"])
            if what == "number":
                box, key = r.choice([(b, k) for b in c for k in (range(len(b)) if isinstance(b, list) else b)] or [(None, None)])
                if box is None:
                    continue
                if isinstance(box[key], (int, float)):
                    box[key] = r.choice([-1, 0, 7, "x", None, 2.5, (2, 2), (1, 2, 3), [3]])
                elif isinstance(box[key], str):
                    box[key] = r.choice(["x", None, 3])
                else:
                    continue
            else:
                slots = [(b, k) for b in f for k in (range(len(b)) if isinstance(b, list) else b) if isinstance(b[k], torch.Tensor)]
                if not slots:
                    continue
                box, key = r.choice(slots)
                x = box[key]
                if what == "shape":
                    shape = changed(x.shape, r)
                    flat = x.reshape(-1)
                    size = math.prod(shape)
                    box[key] = (flat.repeat(size // max(1, flat.numel()) + 1)[:size] if flat.numel() else torch.ones(size).to(x.dtype)).reshape(shape)
                elif what == "type":
                    box[key] = x.to(r.choice([torch.int64, torch.bool, torch.float64, torch.float16, torch.float32]))
                else:
                    box[key] = r.choice([None, 3, "x", [1.0, 2.0]])
            try:
                made = call(info.name, *c) + "(" + call("", *f)[1:-1] + ")"
            except Unwritten:
                continue
            if made not in seen and len(made) < 2000:
                seen.add(made)
                yield f"C('{info.name[3:]} {what} {n}', lambda: {made})"


def write(out, kind, cases, most):
    cases = list(cases)
    for i in range(0, len(cases), most):
        text = "import cases\ncases.DETAILS = True\nfrom cases import *\n" + "\n".join(cases[i:i + most]) + "\n"
        (out / f"{kind}_{i // most:03}.py").write_text(text)
    print(kind, len(cases))


if __name__ == "__main__":
    out = pathlib.Path(sys.argv[1])
    out.mkdir(exist_ok=True)
    (out / "cases.py").write_text((SCRIPTS / "cases" / "__init__.py").read_text())
    write(out, "modules", some(modules(), 30), 60)
    for name in ("module_uses", "module_refusals", "optimizer_uses"):
        text = (SCRIPTS / f"{name}.py").read_text()
        write(out, name, [line for line in text.splitlines() if line[:2] in ("M(", "C(", "O(")], 60)
    write(out, "words", (HERE / "words.txt").read_text().splitlines(), 60)
    write(out, "module_errors", module_errors(), 150)
    write(out, "optimizers", optimizers(), 60)
    write(out, "optimizer_errors", optimizer_errors(), 150)
    write(out, "operator_errors", operator_errors(), 200)
    write(out, "module_changes", module_changes(), 200)
    print("left out:", left)
