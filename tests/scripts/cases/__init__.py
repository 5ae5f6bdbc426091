"""Modules, optimizers and calls, and what they give, a line for each: `M`, `O` and `C`. The tensors need no generator.

The scripts of `tests/opinfo/uses` set DETAILS, and print values where the scripts here print sums.
"""
import copy
import io
import math
import warnings
from math import inf, nan

import torch
import torch.nn.functional as F
from torch import nn

warnings.filterwarnings("ignore")
DETAILS = False
f32, f64, bf16, f16, i64 = torch.float32, torch.float64, torch.bfloat16, torch.float16, torch.int64


def U(low, high, *shape, s=0, k=f32, g=False):
    """Numbers between two, without a generator: all are different."""
    n = math.prod(shape)
    x = torch.tensor([low + (high - low) * ((i * 7919 + s * 1047 + 31) % 9973) / 9973 for i in range(n)], dtype=f32).reshape(shape).to(k)
    return x.requires_grad_() if g else x


def L(values, k=f32, shape=None, g=False):
    x = torch.tensor(values, dtype=k)
    x = x if shape is None else x.reshape(shape)
    return x.requires_grad_() if g else x


def number(v):
    return f"{v:.5g}" if isinstance(v, float) else repr(v)


def show(x):
    if isinstance(x, torch.Tensor):
        x = x.detach()
        x = x.to_dense() if x.is_sparse else x
        v = (torch.view_as_real(x) if x.is_complex() else x).reshape(-1).tolist()
        mix = number(float(sum([a * (i * 37 % 11 - 5) for i, a in enumerate(v)])) if len(v) > 1 or v[:1] == [] else v[0])
        if DETAILS:
            return f"{str(x.dtype)[6:]}{list(x.shape)} [{', '.join([number(a) for a in v[:6]])}] mix {mix}"
        return f"{'' if x.dtype == f32 else str(x.dtype)[6:]}{list(x.shape)} {mix}"
    if isinstance(x, (list, tuple)):
        return "(" + "; ".join([show(a) for a in x]) + ")"
    if isinstance(x, dict):
        return "{" + "; ".join([f"{a}: {show(b)}" for a, b in x.items()]) + "}"
    return number(x) if isinstance(x, (int, float, str, bool, type(None))) else type(x).__name__


def tensors(x):
    if isinstance(x, torch.Tensor):
        return [x]
    if isinstance(x, dict):
        x = list(x.values())
    return [t for a in x for t in tensors(a)] if isinstance(x, (list, tuple)) else []


def cast(x, k):
    if isinstance(x, nn.utils.rnn.PackedSequence):
        return x.to(k)
    if isinstance(x, torch.Tensor):
        return x.detach().to(k).requires_grad_(x.requires_grad) if x.dtype.is_floating_point else x
    if isinstance(x, dict):
        return {a: cast(b, k) for a, b in x.items()}
    return type(x)([cast(a, k) for a in x]) if isinstance(x, (list, tuple)) else x


def refused(e):
    return f"{type(e).__name__}: {(str(e).splitlines() or [''])[0]}"


def say(name, key, f):
    try:
        text = f()
        text = text if isinstance(text, str) else show(text)
    except Exception as e:
        text = "!" + refused(e)
    if not DETAILS:
        print(f"{name}: {text}" if key in ("repr", "call", "5") else f" {key}: {text}")
        return
    for line in text.splitlines() or [""]:
        print(f"{name}|{key}|{line}")


def mixed(out):
    total = 0.0
    for i, t in enumerate([t for t in tensors(out) if t.requires_grad]):
        n = t.numel()
        w = torch.tensor([((j + i) * 5 % 7 - 2) / 3 for j in range(n)]).reshape(t.shape).to(t.dtype)
        total = total + (t * w).sum()
    return total


def passes(name, key, m, args, kwargs):
    """Forward and backward."""
    def forward():
        torch.manual_seed(1)
        found.append(m(*args, **kwargs))
        return found[0]

    def backward():
        total = mixed(found[0])
        if not isinstance(total, torch.Tensor):
            return "no gradient"
        total.backward()
        ins = [t.grad for t in tensors([list(args), kwargs]) if t.requires_grad]
        return show(ins) + " " + show([p.grad for p in m.parameters()])
    found = []
    say(name, key, forward)
    if found and (DETAILS or m.training):
        say(name, key + " grad", backward)
        if list(m.buffers()):
            say(name, key + " buffers", lambda: show(dict(m.named_buffers())))
    return found


def near(a, b):
    """Types and shapes, and whether narrower values are the wider ones', for lines of few words."""
    pairs = list(zip(tensors(a), tensors(b)))
    far = [float((x.double() - y.double()).abs().nan_to_num().max()) for x, y in pairs if x.dtype.is_floating_point and x.numel()]
    top = [float(y.double().abs().nan_to_num().max()) for _, y in pairs if y.dtype.is_floating_point and y.numel()]
    return f"{' '.join([str(x.dtype)[6:] for x, _ in pairs])} {max(far + [0.0]) <= 0.06 * max(top + [0.01])}"


def M(name, make, given, narrow=True, again=True):
    def fresh(seed=0):
        torch.manual_seed(seed)
        return make()

    def go(m, k=None):
        args, kwargs = given() if k is None else cast(given(), k)
        torch.manual_seed(1)
        return m(*args, **kwargs)

    def same(a, b):
        x, y = tensors(a), tensors(b)
        return len(x) == len(y) and all([torch.equal(p.nan_to_num(), q.nan_to_num()) for p, q in zip(x, y)])

    def loaded():
        file = io.BytesIO()
        torch.save(m, file)
        file.seek(0)
        return torch.load(file, weights_only=False)

    def once_more():
        """The module copied, pickled, and another with its state."""
        other, read = fresh(5), loaded()
        text = repr(other.load_state_dict(m.state_dict()))
        checks = [same(go(copy.deepcopy(m)), go(m)), same(go(read), go(m)), repr(read) == repr(m), read.training, len(text), same(go(other.eval()), go(m))]
        return " ".join([str(c)[:2] for c in checks])

    def kinds():
        other, k = fresh(), bf16 if narrow else f64
        found = near(go(other.to(k).eval(), k), wide[0])
        return f"{found} {' '.join(sorted({str(v.dtype)[6:] for v in other.state_dict().values()}))}"
    try:
        m = fresh()
    except Exception as e:
        print(f"{name}|make|!{refused(e)}")
        return
    say(name, "repr", lambda: repr(m))
    for training in (True, False):
        m = fresh()
        m.train(training)
        wide = passes(name, "train" if training else "eval", m, *given())
    if not DETAILS:
        say(name, "state", lambda: str({n: list(v.shape) for n, v in m.state_dict().items()}) + " " + (once_more() if again else ""))
        say(name, "kinds", kinds)
        return
    say(name, "state", lambda: show(m.state_dict()))
    if again:
        say(name, "again", once_more)
    for k in (f64, bf16):
        for training in (True, False):
            say(name, f"{str(k)[6:]} {training}", lambda: go(fresh().to(k).train(training), k))


def C(name, f):
    """A call with whatever it gives."""
    def run():
        torch.manual_seed(0)
        return f()
    say(name, "call", run)


def O(name, make, shapes=((3, 4), (4,)), sparse=False, closure=False):
    """Steps of an optimizer, its state, and the same from a state read again."""
    def params():
        return [nn.Parameter(U(-1, 1, *shape, s=i)) for i, shape in enumerate(shapes)]

    def back(ps):
        total = 0.0
        for i, p in enumerate(ps):
            t = U(-2, 2, *p.shape, s=10 + i)
            total = total + ((p - t) ** 2 * U(0.5, 3, *p.shape, s=20 + i)).sum()
        total.backward()
        if sparse:
            for p in ps:
                p.grad = p.grad.to_sparse()
        return total

    def step(o, ps):
        def again():
            o.zero_grad()
            return back(ps)
        if closure:
            return o.step(again)
        again()
        return o.step()

    def steps(o, ps, n):
        for _ in range(n):
            step(o, ps)
        return ps

    def state():
        d = o.state_dict()
        for k, v in sorted(d["state"].items()) if DETAILS else ():
            print(f"{name}|state {k}|{'; '.join([f'{a} {show(b)}' for a, b in v.items() if a not in ('func_evals', 'n_iter')])}")
        kept = sorted({f"{a} {show(b)}" if not isinstance(b, list) else a for v in d["state"].values() for a, b in v.items()})
        groups = [{a: b for a, b in g.items() if not isinstance(b, torch.Tensor) and (DETAILS or b)} for g in d["param_groups"]]
        return str(groups) if DETAILS else f"{[len(g) for g in groups]} {'' if closure else '; '.join(kept)}"

    def resumed():
        file = io.BytesIO()
        torch.save(o.state_dict(), file)
        file.seek(0)
        qs = [nn.Parameter(p.detach().clone()) for p in ps]
        other = make(qs)
        other.load_state_dict(torch.load(file))
        steps(o, ps, 2)
        steps(other, qs, 2)
        return show(qs) + str([bool(torch.allclose(p, q, atol=1e-6)) for p, q in zip(ps, qs)])
    ps = params()
    try:
        o = make(ps)
    except Exception as e:
        print(f"{name}|make|!{refused(e)}")
        return
    if DETAILS:
        say(name, "repr", lambda: repr(o))
        say(name, "1", lambda: steps(o, ps, 1))
    say(name, "5", lambda: steps(o, ps, 4 if DETAILS else 5))
    say(name, "state", state)
    say(name, "resumed", resumed)
