"""Cases for Aludel's oracle out of PyTorch's own test suite: OpInfo's samples (op_db), module_db and optim_db.

    python gen.py OUT_DIR [seed]

Writes directories of the format of tests/oracle/generate.py:
  OUT_DIR/main     samples, forward and gradients, all numbers finite
  OUT_DIR/edge     samples with infinities or NaN in operands, results or gradients; forward and gradient are cases of their own
  OUT_DIR/ext      what the oracle's files cannot say (element types as arguments, NaN as an argument, losses without `prepare`): for probe only
  OUT_DIR/errors   OpInfo's error inputs: no results; for probe only
and OUT_DIR/coverage.json: for each operator how many samples there were, how many could not be expressed and why, how many were taken.
References are float64 with PyTorch's default type float64; the numbers stored are float32. Where PyTorch's own float32 result is further
off than the tolerance, the tolerance of that tensor grows to four times PyTorch's error ("loosened" in coverage.json).
"""
import os, sys, json, math, random, warnings, collections, itertools, time, traceback
warnings.filterwarnings("ignore")
import numpy as np, torch, torch.nn.functional as F
from safetensors.torch import save_file
torch.set_num_threads(1)
from torch.testing._internal.common_methods_invocations import op_db
from torch.testing._internal.opinfo.core import SampleInput
from specs import ROWS, Reject, Call, is_t
from table import parsed

TABLE = parsed()
CAP, MOST_IN, MOST_OUT = 40, 4096, 16384
DTYPES = [torch.float32, torch.int64, torch.bool, torch.complex64]
NAMES = {torch.float32: "f32", torch.float64: "f32", torch.float16: "f16", torch.bfloat16: "bf16", torch.int64: "i32", torch.int32: "i32", torch.uint32: "u32", torch.bool: "bool"}
SHORT = {torch.float32: "f32", torch.int64: "i64", torch.bool: "bool", torch.complex64: "c64"}


def tree(v, f):
    if is_t(v): return f(v)
    if isinstance(v, torch.Size): return v
    if isinstance(v, tuple) and hasattr(v, "_fields"): return type(v)(*[tree(x, f) for x in v])
    if isinstance(v, (list, tuple)): return type(v)(tree(x, f) for x in v)
    if isinstance(v, dict): return {k: tree(x, f) for k, x in v.items()}
    return v


def sampled(s, f): return SampleInput(tree(s.input, f), args=tuple(tree(list(s.args), f)), kwargs=tree(dict(s.kwargs), f))


def leaf(wide):
    to = {torch.float32: torch.float64, torch.complex64: torch.complex128, torch.float16: torch.float64, torch.bfloat16: torch.float64} if wide else {}
    def f(x):
        y = x.detach().to(to.get(x.dtype, x.dtype)).clone()
        return y.requires_grad_(True) if x.requires_grad else y
    return f


def check_tensor(x):
    if x.layout != torch.strided or x.is_quantized: raise Reject("dtype", "layout " + str(x.layout))
    if x.dtype not in (torch.float32, torch.float64, torch.int64, torch.int32, torch.bool, torch.complex64, torch.complex128, torch.float16, torch.bfloat16, torch.uint32):
        raise Reject("dtype", "element type " + str(x.dtype)[6:])


class BF16(np.ndarray): """f32 numbers that the file keeps as bf16."""


def stored(x, like=None):
    """As the file has it; complex numbers as pairs; rounded to the 16-bit type of `like`."""
    x = x.detach().resolve_conj().resolve_neg()
    if like is not None and like.dtype in (torch.float16, torch.bfloat16) and x.is_floating_point(): x = x.to(like.dtype)
    if x.is_complex(): x = torch.view_as_real(x.to(torch.complex128))
    if x.dtype == torch.float64: x = x.float()
    if x.dtype == torch.bfloat16: return x.float().contiguous().numpy().copy().reshape(x.shape).view(BF16)
    a = x.contiguous().numpy()
    if a.dtype in (np.int64,):
        if a.size and (a.max() > 2**31 - 1 or a.min() < -2**31): raise Reject("dtype", "needs 64-bit integers")
        a = a.astype(np.int32)
    if a.dtype not in (np.float32, np.int32, np.uint32, np.bool_, np.float16): raise Reject("dtype", "element type " + str(a.dtype))
    return a.copy().reshape(x.shape)


NUMBERS = {"alpha", "beta", "value", "fill_value", "start", "end", "step", "exponent", "nan"}


def attr(name, v, ext):
    """A JSON value; ext[0] is set where only the probe understands it."""
    if isinstance(v, bool) and name in NUMBERS: v = int(v)  # Python's True as a number
    if isinstance(v, bool) or isinstance(v, str): return v
    if isinstance(v, (int, np.integer)):
        if abs(int(v)) > 2**32 - 1: raise Reject("dtype", f"argument {name} needs 64 bits")
        return int(v)
    if isinstance(v, (float, np.floating)):
        v = float(v)
        if math.isfinite(v): return v
        ext[0] = True
        return {"float": str(v)}
    if isinstance(v, complex): raise Reject("aludel", f"a complex number as {name}")
    if isinstance(v, torch.dtype):
        if v not in NAMES or v == torch.float64: raise Reject("dtype", "element type " + str(v)[6:])
        ext[0] = True
        return {"dtype": NAMES[v]}
    if isinstance(v, (list, tuple)):
        if all(isinstance(x, (int, np.integer)) and not isinstance(x, bool) for x in v): return [int(x) for x in v]
        if all(isinstance(x, bool) for x in v): raise Reject("aludel", f"a list of bools as {name}")
        if all(isinstance(x, (int, float)) for x in v):
            if all(float(x) == int(x) for x in v): return [int(x) for x in v]
            raise Reject("aludel", f"a list of fractions as {name}")
        raise Reject("aludel", f"a nested list as {name}")
    raise Reject("aludel", f"{type(v).__name__} as {name}")


def outputs(o):
    o = list(o) if isinstance(o, (list, tuple)) else [o]
    flat = []
    for x in o: flat += outputs(x) if isinstance(x, (list, tuple)) else [x]
    if not all(is_t(x) for x in flat): raise Reject("aludel", "results that are not tensors")
    return flat


def finite(a): return not (np.issubdtype(a.dtype, np.floating) and not np.isfinite(a).all())


class Writer:
    def __init__(self, path): self.path, self.tensors, self.cases, self.bytes, self.seen = path, {}, [], 0, {}
    def put(self, key, a):
        t = torch.from_numpy(np.array(a)).clone()
        self.tensors[key] = t.bfloat16() if isinstance(a, BF16) else t
        self.bytes += a.nbytes
        return key
    def save(self):
        os.makedirs(self.path, exist_ok=True)
        save_file(self.tensors, self.path + "/ops.safetensors")
        with open(self.path + "/ops.json", "w") as f:
            f.write('{"torch": "%s", "cases": [\n' % torch.__version__)
            f.write(",\n".join(json.dumps(c) for c in self.cases)); f.write("\n]}\n")


def value_class(ts):
    c = set()
    for t in ts:
        if t.dtype.is_floating_point or t.is_complex():
            if t.numel() == 0: continue
            a = torch.view_as_real(t.detach().resolve_conj().resolve_neg()) if t.is_complex() else t.detach()
            if not torch.isfinite(a).all(): c.add("nonfinite")
            m = a[torch.isfinite(a)].abs().max().item() if torch.isfinite(a).any() else 0
            if m > 1e3: c.add("large")
            elif m < 1e-3: c.add("tiny")
    return tuple(sorted(c))


def key_of(c, attrs):
    shapes = tuple((t.dim(), 0 in t.shape, t.dtype) for t in c.operands) if len(c.operands) < 5 else ("many", c.operands[0].dim())
    if len(c.operands) == 2: shapes += (tuple(c.operands[0].shape) == tuple(c.operands[1].shape),)
    grads = tuple(t.requires_grad for t in c.operands[:4])
    def kind(v):
        if isinstance(v, (bool, str)): return v
        if isinstance(v, int): return ("i", v < 0, v == 0)
        if isinstance(v, float): return ("f", v < 0)
        if isinstance(v, list): return ("l", len(v), any(x < 0 for x in v))
        return str(v)
    return (shapes, tuple(sorted((k, str(kind(v))) for k, v in attrs.items())), value_class(c.operands))


def prepared(op, sample, row):
    """The oracle's `prepare` for losses; the sample that PyTorch sees, or None where the call is not touched."""
    x, rest = sample.input, list(sample.args)
    if op == "nll_loss": return lambda s: SampleInput(torch.log_softmax(s.input, 1), args=s.args, kwargs=s.kwargs), x.dim() >= 2
    if op == "kl_div": return lambda s: SampleInput(torch.log_softmax(s.input, 1), args=(torch.softmax(s.args[0], 1), *s.args[1:]), kwargs=s.kwargs), x.dim() >= 2 and rest and rest[0].dim() >= 2
    if op == "cross_entropy" and rest and rest[0].is_floating_point():
        return lambda s: SampleInput(s.input, args=(torch.softmax(s.args[0], 1), *s.args[1:]), kwargs=s.kwargs), rest[0].dim() >= 2
    return None, True


def evaluate(row, fn, sample, wide, pre, cts, rng, differentiate=True):
    """(operands, results, gradients, cotangents) of one run."""
    torch.set_default_dtype(torch.float64 if wide else torch.float32)
    try:
        s = sampled(sample, leaf(wide))
        c = row.map(s)
        t = pre(s) if pre else s
        ref = row.ref or (lambda op, s: op(s.input, *s.args, **s.kwargs))
        outs = outputs(ref(fn, t))
        need = [x.requires_grad for x in c.operands]
        diff = [o.requires_grad and (o.is_floating_point() or o.is_complex()) for o in outs]
        grads = [None] * len(need)
        if differentiate and any(need) and any(diff):
            if cts is None:
                cts = [None if not d else torch.from_numpy(np.asarray(rng.uniform(-2, 2, tuple(o.shape)), dtype=np.float32)) if not o.is_complex()
                       else torch.complex(*[torch.from_numpy(np.asarray(rng.uniform(-2, 2, tuple(o.shape)), dtype=np.float32)) for _ in range(2)]) for o, d in zip(outs, diff)]
            gs = torch.autograd.grad([o for o, d in zip(outs, diff) if d], [x for x, n in zip(c.operands, need) if n],
                                     [g.to(o.dtype) for o, g in zip(outs, cts) if g is not None], allow_unused=True)
            it = iter(gs)
            grads = [next(it) if n else None for n in need]
        else: cts = None
        return c, outs, grads, cts
    finally: torch.set_default_dtype(torch.float32)


def tolerance(ref, got):
    """[rtol, atol] for one tensor, whether it was loosened, and whether PyTorch's own float32 has infinities or NaN elsewhere."""
    rtol, atol = (1e-2, 1e-3) if ref.dtype == np.float16 or isinstance(ref, BF16) else (1e-4, 1e-5)
    if not np.issubdtype(ref.dtype, np.floating) or ref.size == 0: return [rtol, atol], False, False
    ok = np.isfinite(ref)
    r = np.abs(ref[ok].astype(np.float64))
    # Sums round in proportion to what they add up: by the median, so that one large element does not hide the others.
    if r.size and np.isfinite(r).all(): atol = max(atol, 5e-6 * float(np.median(r)))
    if got is None or got.shape != ref.shape: return [rtol, atol], False, False
    g = got.astype(np.float64)
    if (np.isfinite(g) != ok).any() or (np.isnan(g) != np.isnan(ref)).any(): return [rtol, atol], False, True
    err = np.abs(g[ok] - ref[ok].astype(np.float64)) - rtol * r
    worst = float(err.max()) if err.size else 0.0
    if worst > 0.5 * atol: return [rtol, 4 * worst + atol], True, False
    return [rtol, atol], False, False


class Maker:
    def __init__(self, out, seed):
        self.out, self.seed = out, seed
        self.main, self.edge, self.ext = (Writer(f"{out}/{n}") for n in ("main", "edge", "ext"))
        self.errors = Writer(f"{out}/errors")
        self.cov = {}
        self.meta = {}

    def stats(self, op): return self.cov.setdefault(op, dict(samples=0, taken=0, over_cap=0, too_large=0, loosened=0, rejected={}, sources={}))

    def reject(self, op, info, r):
        c = self.stats(op)["rejected"]; k = f"{r.kind}: {r.reason}"; c[k] = c.get(k, 0) + 1

    def emit(self, row, fn, sample, name, ext, raw, prep):
        """Makes the case or cases of one sample; how many."""
        op_name, n0 = None, len(self.main.cases) + len(self.edge.cases) + len(self.ext.cases)
        rng = np.random.default_rng([self.seed, sum(map(ord, name)), n0])
        try: c, outs, grads, cts = evaluate(row, fn, sample, True, prep, None, rng)
        except Reject: raise
        except Exception as e: raise Reject("reference", f"PyTorch itself: {type(e).__name__} {str(e)[:80]}")
        if sum(o.numel() for o in outs) > MOST_OUT: raise Reject("size", "results too large")
        op = c.op
        # PyTorch's own float32.
        try:
            c32, t32, u32, _ = evaluate(row, fn, sample, False, prep, cts, None)
            x32 = c32.operands
            o32 = [stored(x) for x in t32]; g32 = [None if g is None else stored(g) for g in u32]
        except Exception as e: x32, t32, u32, o32, g32 = [None] * len(c.operands), [None] * len(outs), [None] * len(grads), [None] * len(outs), [None] * len(grads)
        ins = [stored(x, y) for x, y in zip(c.operands, x32)]; os_ = [stored(x, y) for x, y in zip(outs, t32)]
        gs = [None if g is None else stored(g, h) for g, h in zip(grads, u32)]
        ct = None if cts is None else [None if g is None else stored(g) for g in cts]
        tol_o = [tolerance(a, b) for a, b in zip(os_, o32)]
        tol_g = [tolerance(a, b) for a, b in zip(gs, g32) if a is not None]
        attrs = {k: attr(k, v, [False]) for k, v in c.attrs.items()}
        clean = all(finite(a) for a in ins + os_) and not any(t[2] for t in tol_o)
        clean_g = clean and all(finite(a) for a in gs if a is not None) and not any(t[2] for t in tol_g)
        where = self.ext if ext or raw else self.main if clean_g else self.edge
        def case(w, suffix, with_grad, with_out):
            n = name + suffix
            while n in w.seen: n += "'"
            w.seen[n] = True
            e = dict(name=n, op=op, attrs=attrs, tol=[1e-4, 1e-5], tols=[], inputs=[w.put(f"{n}:in{i}", a) for i, a in enumerate(ins)],
                     outputs=[w.put(f"{n}:out{i}", a) for i, a in enumerate(os_)])
            e["tols"] = [t[0] for t in tol_o]
            if with_grad and ct is not None:
                e["cotangents"] = [None if a is None else w.put(f"{n}:ct{i}", a) for i, a in enumerate(ct)]
                e["grads"] = [None if a is None else w.put(f"{n}:grad{i}", a) for i, a in enumerate(gs)]
                e["tols"] += [t[0] for t in tol_g]
            if raw: e["raw"] = True
            flags = []
            if any(t[1] for t in tol_o + (tol_g if with_grad else [])): flags.append("loosened")
            if any(t[2] for t in tol_o + (tol_g if with_grad else [])): flags.append("torch32 differs")
            if flags: self.meta[n] = flags; 
            if "loosened" in flags: self.stats(op)["loosened"] += 1
            w.cases.append(e)
        if where is self.edge and ct is not None:
            case(self.edge, "", False, True)
            case(self.edge, "#grad", True, True)
        else: case(where, "", True, True)
        st = self.stats(op); st["taken"] += 1; st["sources"][row.info] = st["sources"].get(row.info, 0) + 1


def candidates(info, dtype, st_seed):
    torch.manual_seed(st_seed); random.seed(st_seed); np.random.seed(st_seed)
    rg = info.supports_autograd and dtype in (torch.float32, torch.complex64)
    try: yield from (("s", s) for s in itertools.islice(info.sample_inputs("cpu", dtype, requires_grad=rg), 300))
    except Exception as e: print("   samples:", info.name, dtype, repr(e)[:120])
    if info.reference_inputs_func is not None:
        try: yield from (("r", s) for s in itertools.islice(info.reference_inputs("cpu", dtype, requires_grad=rg), 400))
        except Exception as e:
            print("   references:", info.name, dtype, repr(e)[:120])
            try: yield from (("R", s) for s in itertools.islice(info.reference_inputs("cpu", dtype, requires_grad=False), 400))
            except Exception as e: print("   references again:", info.name, dtype, repr(e)[:120])


def run_op_db(m):
    infos = collections.defaultdict(list)
    for i in op_db: infos[i.name, i.variant_test_name].append(i)
    by_op = collections.defaultdict(list)
    for r in ROWS: by_op[r.op].append(r)
    used = set()
    for op, rows in by_op.items():
        t0 = time.time()
        groups, order = collections.OrderedDict(), 0
        for row in rows:
            found = infos.get((row.info, row.variant or ""), [])
            if not found: print("   no OpInfo", row.info, row.variant); continue
            info = found[0]; used.add((info.name, info.variant_test_name))
            for dtype in DTYPES:
                if dtype not in info.supported_dtypes("cpu"): continue
                tag = row.info.replace("nn.functional.", "F.") + ("|" + row.variant if row.variant else "") + "/" + SHORT[dtype]
                for n, (src, s) in enumerate(candidates(info, dtype, m.seed)):
                    st = m.stats(op); st["samples"] += 1
                    try:
                        if op not in TABLE: raise Reject("aludel", "no such operator")
                        c = row.map(s)
                        if any(x.is_complex() for x in c.operands) and row.complex_op is None and op not in ("real", "imag", "conj"):
                            raise Reject("aludel", "complex numbers")
                        if any(x.is_complex() for x in c.operands):
                            if not all(x.is_complex() for x in c.operands): raise Reject("aludel", "complex with real operands")
                            if row.complex_op in ("add", "sub") and "alpha" in c.attrs and isinstance(c.attrs["alpha"], complex): raise Reject("aludel", "complex alpha")
                            if len(c.operands) == 1 and "other" in c.attrs or "exponent" in c.attrs: raise Reject("aludel", "a number with complex numbers")
                        elif op in ("real", "imag", "conj", "angle"): raise Reject("aludel", "real numbers (Aludel's takes pairs)")
                        for x in c.operands: check_tensor(x)
                        ext = [False]
                        attrs = {k: attr(k, v, ext) for k, v in c.attrs.items()}
                        # Which of equals comes first is not defined.
                        if op == "topk" or (op in ("sort", "argsort") and not attrs.get("stable")):
                            x = c.operands[0]; d = attrs.get("dim", -1)
                            if x.dim() and x.numel() and any(len(torch.unique(v)) < len(v) for v in x.detach().transpose(d, -1).reshape(-1, x.shape[d])): raise Reject("undefined", "ties")
                        if sum(x.numel() for x in c.operands) > MOST_IN: m.stats(op)["too_large"] += 1; continue
                        key = (tag, *key_of(c, attrs))
                    except Reject as r: m.reject(op, row.info, r); continue
                    groups.setdefault(key, []).append((row, info, s, f"{op}/{tag}/{src}{n}", ext[0], dtype))
        # Round robin over the kinds of samples, floats first.
        kinds = sorted(groups.values(), key=lambda g: DTYPES.index(g[0][5]))
        floats = [g for g in kinds if g[0][5] == torch.float32]; others = [g for g in kinds if g[0][5] != torch.float32]
        def spread(gs, most):
            # one of each kind, kinds far apart first where there are more than fit
            out = []
            if len(gs) > most: gs = [gs[int(i * len(gs) / most)] for i in range(most)]
            for rnd in itertools.count():
                took = False
                for g in gs:
                    if rnd < len(g) and len(out) < most: out.append(g[rnd]); took = True
                if not took or len(out) >= most: return out
        chosen = spread(floats, CAP - min(len(others), 14))
        chosen += spread(others, CAP - len(chosen))
        m.stats(op)["over_cap"] += sum(map(len, groups.values())) - len(chosen)
        for row, info, s, name, ext, dtype in chosen:
            cplx = dtype == torch.complex64 and row.complex_op
            try:
                pre, fits = prepared(op, s, row)
                r = row
                if cplx:
                    import copy; r = copy.copy(row); inner = row.map
                    def mapped(s, inner=inner, to=row.complex_op):
                        c = inner(s); c.op = to; return c
                    r.map = mapped
                if pre and fits: m.emit(r, info.op, s, name, ext, False, pre)
                m.emit(r, info.op, s, name, ext, pre is not None, None)
            except Reject as r_: m.reject(op, row.info, r_)
        print(f"{op}: {m.stats(op)['samples']} samples, {m.stats(op)['taken']} taken, {time.time() - t0:.1f} s", flush=True)
    m.unused = sorted({(i.name, i.variant_test_name) for i in op_db} - used)


def run_errors(m):
    infos = {(i.name, i.variant_test_name): i for i in op_db}
    seen = set()
    for row in ROWS:
        info = infos.get((row.info, row.variant or ""))
        if info is None or info.error_inputs_func is None or (row.info, row.variant) in seen: continue
        seen.add((row.info, row.variant))
        torch.manual_seed(m.seed); random.seed(m.seed); np.random.seed(m.seed)
        try: errs = list(info.error_inputs("cpu"))
        except Exception as e: print("   errors:", row.info, repr(e)[:100]); continue
        for n, e in enumerate(errs):
            name = f"{row.op}/{row.info}{'|' + row.variant if row.variant else ''}/e{n}"
            st = m.cov.setdefault("errors", {}).setdefault(row.op, dict(total=0, taken=0, rejected={}))
            st["total"] += 1
            try:
                s = e.sample_input
                try: info.op(s.input, *s.args, **s.kwargs)
                except Exception: pass
                else: raise Reject("torch", "some of its error inputs are errors elsewhere only")
                c = row.map(s)
                for x in c.operands: check_tensor(x)
                if any(x.dtype == torch.float64 for x in c.operands):
                    if not all(x.dtype == torch.float64 or not x.is_floating_point() for x in c.operands): raise Reject("dtype", "float64 beside another float")
                ext = [True]
                attrs = {k: attr(k, v, ext) for k, v in c.attrs.items()}
                cplx = any(x.is_complex() for x in c.operands)
                if cplx and not (row.complex_op and all(x.is_complex() for x in c.operands)): raise Reject("aludel", "complex numbers")
                w = m.errors
                w.cases.append(dict(name=name, op=row.complex_op if cplx else c.op, attrs=attrs, tol=[0, 0], raw=True, inputs=[w.put(f"{name}:in{i}", stored(x)) for i, x in enumerate(c.operands)], outputs=[],
                                    error=f"{getattr(e.error_type, '__name__', e.error_type)}: {e.error_regex}", sample=str([ (tuple(x.shape), NAMES.get(x.dtype, 'c64')) for x in c.operands])))
                st["taken"] += 1
            except Reject as r: k = f"{r.kind}: {r.reason}"; st["rejected"][k] = st["rejected"].get(k, 0) + 1
            except Exception as ex: k = f"mapping: {type(ex).__name__} {str(ex)[:60]}"; st["rejected"][k] = st["rejected"].get(k, 0) + 1


if __name__ == "__main__":
    out, seed = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 7
    m = Maker(out, seed)
    run_op_db(m)
    run_errors(m)
    for w in (m.main, m.edge, m.ext, m.errors): w.save(); print(w.path, len(w.cases), "cases", w.bytes // 1024, "KiB")
    json.dump(dict(coverage=m.cov, flags=m.meta, op_db_without_row=[f"{a}{'|' + b if b else ''}" for a, b in m.unused]), open(out + "/coverage.json", "w"), indent=0)
