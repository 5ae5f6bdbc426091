"""Results and gradients of PyTorch for operators of indexing, searching, sampling, distances, margins and the like.

    python generate.py          # PyTorch 2.15, numpy, scipy, expecttest, safetensors from PyPI; a minute

Writes ops.json and ops.safetensors beside this file, for aludel_oracle::Suite. Calls are samples of PyTorch's own tests (op_db of
torch.testing._internal) and those listed at the end. References are computed in float64 of the stored float32 inputs; where PyTorch's own
float32 result is further off than the tolerance, that tensor's tolerance grows to four times PyTorch's error. Calls that PyTorch refuses
have its message in place of results.
"""
import collections, inspect, itertools, json, math, pathlib, random, warnings

import numpy as np
import torch
import torch.nn.functional as F
from safetensors.torch import save_file
from torch.testing._internal.common_methods_invocations import op_db
from torch.testing._internal.opinfo.core import SampleInput

warnings.filterwarnings("ignore")
torch.set_num_threads(1)
HERE, SEED = pathlib.Path(__file__).parent, 7
MOST_CASES, MOST_ERRORS, MOST_ELEMENTS = 10, 4, 1500
NAMES = {torch.float32: "f32", torch.int64: "i32", torch.int32: "i32", torch.bool: "bool", torch.float16: "f16", torch.bfloat16: "bf16"}
is_t = lambda v: isinstance(v, torch.Tensor)


class Reject(Exception):
    pass


def signature(text):
    scope = {"inf": math.inf}
    exec(f"def f({text}): pass", scope)
    return inspect.signature(scope["f"])


class Spec:
    """How a PyTorch function is called as an operator: `operands` are the parameters that are tensors there, in order ("*x": a list);
    every other parameter with a value other than its default is an argument of the same name, but for those in `without`."""

    def __init__(self, op, info, sig, operands, variant="", without=(), ref=None, fix=None, grads=True):
        self.op, self.info, self.variant, self.sig, self.operands = op, info, variant, signature(sig), operands.split()
        self.without, self.ref, self.fix, self.grads = without, ref, fix, grads

    def call(self, s):
        try:
            bound = self.sig.bind(s.input, *s.args, **s.kwargs)
        except TypeError as e:
            raise Reject(str(e))
        bound.apply_defaults()
        v = dict(bound.arguments)
        if self.fix:
            self.fix(v)
        operands, attrs, gaps = [], {}, []
        for o in self.operands:
            name = o.lstrip("*")
            x = v.pop(name)
            if o.startswith("*"):
                x = list(x) if isinstance(x, (list, tuple)) else [x]
                if not all(map(is_t, x)):
                    raise Reject("not all tensors")
                operands += x
            elif x is None:
                gaps.append(name)
            elif is_t(x):
                attrs.update({g: None for g in gaps})
                gaps = []
                operands.append(x)
            elif isinstance(x, (bool, int, float)):
                attrs[name] = x
            else:
                raise Reject(f"{type(x).__name__} as {name}")
        for name, x in v.items():
            parameter = self.sig.parameters.get(name)
            default = parameter.default if parameter else None
            if is_t(x):
                raise Reject(f"a tensor as {name}")
            if x is default or (type(x) is type(default) and x == default):
                continue
            if name in self.without:
                if self.without[name] == "drop":
                    continue
                raise Reject(f"argument {name}")
            attrs[name] = x
        return operands, attrs


def json_attr(v):
    if isinstance(v, (bool, str)) or v is None:
        return v
    if isinstance(v, int):
        if abs(v) > 2**31 - 1:
            raise Reject("64-bit integers")
        return v
    if isinstance(v, float):
        return v if math.isfinite(v) else {"float": str(v)}
    if isinstance(v, torch.dtype):
        if v not in NAMES:
            raise Reject(str(v))
        return {"dtype": NAMES[v]}
    if isinstance(v, (list, tuple)) and all(isinstance(x, (int, float)) and not isinstance(x, bool) for x in v):
        return list(v)
    raise Reject(f"{type(v).__name__} as an argument")


def tree(v, f):
    if is_t(v):
        return f(v)
    if isinstance(v, (list, tuple)) and not hasattr(v, "_fields") and not isinstance(v, torch.Size):
        return type(v)(tree(x, f) for x in v)
    return {k: tree(x, f) for k, x in v.items()} if isinstance(v, dict) else v


def copied(s, wide):
    """A sample with leaves of its own, in float64 of the float32 values where `wide`."""

    def leaf(x):
        y = x.detach().clone()
        if wide and y.dtype == torch.float32:
            y = y.double()
        if wide and y.dtype == torch.complex64:
            y = y.to(torch.complex128)
        return y.requires_grad_(x.requires_grad)

    return SampleInput(tree(s.input, leaf), args=tuple(tree(list(s.args), leaf)), kwargs=tree(dict(s.kwargs), leaf))


def flat(outs):
    outs = list(outs) if isinstance(outs, (list, tuple)) else [outs]
    return [y for o in outs for y in (flat(o) if isinstance(o, (list, tuple)) else [o])]


def stored(x):
    """As the file has it; complex numbers as pairs."""
    x = x.detach().resolve_conj()
    if x.is_complex():
        x = torch.view_as_real(x)
    if x.dtype == torch.float64:
        x = x.float()
    if x.dtype == torch.int64:
        if x.numel() and x.abs().max() > 2**31 - 1:
            raise Reject("64-bit integers")
        x = x.int()
    if x.dtype not in NAMES:
        raise Reject(str(x.dtype))
    return x.contiguous().clone()


def run(spec, fn, s, wide, cotangents, rng):
    torch.set_default_dtype(torch.float64 if wide else torch.float32)
    try:
        s = copied(s, wide)
        operands, _ = spec.call(s)
        outs = flat(spec.ref(fn, s) if spec.ref else fn(s.input, *s.args, **s.kwargs))
        need = [spec.grads and x.requires_grad for x in operands]
        open_ = [o.requires_grad for o in outs]
        if not any(need) or not any(open_):
            return operands, outs, [None] * len(operands), None
        if cotangents is None:
            cotangents = []
            for o, d in zip(outs, open_):
                draw = lambda shape: torch.from_numpy(np.asarray(rng.uniform(-2, 2, tuple(shape)), dtype=np.float32))
                cotangents.append(None if not d else draw(o.shape) if not o.is_complex() else torch.complex(draw(o.shape), draw(o.shape)))
        grads = torch.autograd.grad([o for o, d in zip(outs, open_) if d], [x for x, n in zip(operands, need) if n],
                                    [c.to(o.dtype) for o, c in zip(outs, cotangents) if c is not None], allow_unused=True)
        left = iter(grads)
        return operands, outs, [next(left) if n else None for n in need], cotangents
    finally:
        torch.set_default_dtype(torch.float32)


def tolerance(want, got):
    rtol, atol = 1e-4, 1e-5
    if not want.is_floating_point() or want.numel() == 0:
        return [rtol, atol]
    want = want.double()
    finite = torch.isfinite(want)
    if finite.any():
        atol = max(atol, 5e-6 * want[finite].abs().median().item())
    if got is not None and got.shape == want.shape and finite.any():
        error = ((got.double() - want).abs() - rtol * want.abs())[finite].max().item()
        if error > 0.5 * atol:
            atol += 4 * error
    return [rtol, atol]


class Cases:
    def __init__(self):
        self.tensors, self.cases, self.seen = {}, [], collections.Counter()

    def put(self, key, t):
        self.tensors[key] = t
        return key

    def name(self, name):
        self.seen[name] += 1
        return name if self.seen[name] == 1 else f"{name}'{self.seen[name]}"

    def add(self, spec, fn, s, name):
        rng = np.random.default_rng([SEED, sum(map(ord, name))])
        operands, attrs = spec.call(s)
        attrs = {k: json_attr(v) for k, v in attrs.items()}
        if sum(x.numel() for x in operands) > MOST_ELEMENTS:
            raise Reject("large")
        _, outs, grads, cotangents = run(spec, fn, s, True, None, rng)
        if not all(map(is_t, outs)) or sum(o.numel() for o in outs) > 4 * MOST_ELEMENTS:
            raise Reject("large, or results that are no tensors")
        _, outs32, grads32, _ = run(spec, fn, s, False, cotangents, None)
        name = self.name(name)
        inputs = [stored(x) for x in operands]
        wants, gots = [stored(o) for o in outs], [stored(o) for o in outs32]
        case = dict(name=name, op=spec.op, attrs=attrs, tol=[1e-4, 1e-5], inputs=[self.put(f"{name}:in{i}", x) for i, x in enumerate(inputs)],
                    outputs=[self.put(f"{name}:out{i}", x) for i, x in enumerate(wants)])
        tols = [tolerance(w, g) for w, g in zip(wants, gots)]
        if cotangents is not None:
            case["cotangents"] = [None if c is None else self.put(f"{name}:ct{i}", stored(c)) for i, c in enumerate(cotangents)]
            case["grads"] = []
            for i, (g, g32) in enumerate(zip(grads, grads32)):
                case["grads"].append(None if g is None else self.put(f"{name}:grad{i}", stored(g)))
                if g is not None:
                    tols.append(tolerance(stored(g), stored(g32)))
        if any(not torch.isfinite(self.tensors[n]).all() for n in case.get("grads", []) if n):
            del case["cotangents"], case["grads"]
            tols = tols[: len(wants)]
        case["tols"] = tols
        self.cases.append(case)

    def refuse(self, spec, s, name, error):
        operands, attrs = spec.call(s)
        attrs = {k: json_attr(v) for k, v in attrs.items()}
        if any(x.is_complex() or x.dtype == torch.float64 for x in operands) or not error or "out of bounds" in error:
            raise Reject("complex, types that the file does not tell apart, or values that a graph does not see")
        inputs = [stored(x) for x in operands]
        name = self.name(name)
        self.cases.append(dict(name=name, op=spec.op, attrs=attrs, tol=[0, 0], outputs=[], error=error[:100],
                               inputs=[self.put(f"{name}:in{i}", x) for i, x in enumerate(inputs)]))


def kind(spec, s):
    """What tells calls apart: of each kind one is taken before the second of any."""
    operands, attrs = spec.call(s)
    shapes = tuple((x.dim(), 0 in x.shape, 1 in x.shape, str(x.dtype)) for x in operands[:4])
    return shapes, tuple(sorted((k, str(v) if isinstance(v, (bool, str)) else type(v).__name__) for k, v in attrs.items()))


def samples(cases, specs):
    infos = {(i.name, i.variant_test_name): i for i in op_db}
    counts = collections.OrderedDict()
    for spec in specs:
        if not spec.info:
            continue
        info = infos[spec.info, spec.variant]
        groups = collections.OrderedDict()
        for dtype in (torch.float32, torch.int64, torch.bool, torch.complex64):
            if dtype not in info.supported_dtypes("cpu"):
                continue
            torch.manual_seed(SEED), random.seed(SEED), np.random.seed(SEED)
            grads = info.supports_autograd and dtype in (torch.float32, torch.complex64)
            drawn = list(itertools.islice(info.sample_inputs("cpu", dtype, requires_grad=grads), 200))
            if info.reference_inputs_func is not None and dtype == torch.float32:
                drawn += list(itertools.islice(info.reference_inputs("cpu", dtype, requires_grad=grads), 100))
            for i, s in enumerate(drawn):
                try:
                    if dtype == torch.complex64 and any(x.is_complex() for x in spec.call(s)[0]) and spec.op not in COMPLEX:
                        continue
                    groups.setdefault(kind(spec, s), []).append((f"{spec.op}/{NAMES.get(dtype, 'c64')}/{i}", s))
                except Reject:
                    pass
        taken = 0
        for turn in itertools.count():
            level = [g[turn] for g in groups.values() if turn < len(g)]
            if not level or taken >= MOST_CASES:
                break
            for name, s in level[:: max(1, len(level) // (MOST_CASES - taken))][: MOST_CASES - taken]:
                try:
                    cases.add(spec, info.op, s, name)
                    taken += 1
                except Reject:
                    pass
        refused = 0
        for i, e in enumerate(info.error_inputs("cpu") if info.error_inputs_func else []):
            try:
                if refused < MOST_ERRORS:
                    cases.refuse(spec, e.sample_input, f"{spec.op}/error/{i}", str(e.error_regex))
                    refused += 1
            except (Reject, Exception):
                pass
        counts[spec.op] = counts.get(spec.op, 0) + taken
        print(f"{spec.op}: {taken} of {sum(map(len, groups.values()))}, {refused} refused", flush=True)


COMPLEX = {"istft"}
ALL = {"size_average": "drop", "reduce": "drop"}
OLD = "size_average=None, reduce=None, reduction='mean'"
N = "nn.functional."


def masked_index(v):
    if any(not is_t(i) or i.dtype == torch.bool for i in v["indices"]):
        raise Reject("masks")


def own_sizes(v):
    """None stands for the input's size, which torch.nn.functional puts in its place."""
    if isinstance(v["output_size"], (list, tuple)):
        own = v["input"].shape[-len(v["output_size"]):]
        v["output_size"] = [s if n is None else n for n, s in zip(v["output_size"], own)]


def with_indices(v):
    if not v["return_indices"]:
        raise Reject("without indices")


def no_complex_window(v):
    if is_t(v["window"]) and v["window"].is_complex():
        raise Reject("a complex window")


SPECS = [
    Spec("unbind", "unbind", "input, dim=0", "input"),
    Spec("unflatten", "unflatten", "input, dim, sizes", "input"),
    Spec("movedim", "movedim", "input, source, destination", "input"),
    Spec("tensor_split", "tensor_split", "input, indices_or_sections, dim=0", "input"),
    Spec("meshgrid", "meshgrid", "*tensors, indexing='ij'", "*tensors", variant="variadic_tensors"),
    Spec("hstack", "hstack", "tensors", "*tensors"),
    Spec("vstack", "vstack", "tensors", "*tensors"),
    Spec("dstack", "dstack", "tensors", "*tensors"),
    Spec("diff", "diff", "input, n=1, dim=-1, prepend=None, append=None", "input prepend append"),
    Spec("diag", "diag", "input, diagonal=0", "input"),
    Spec("trace", "trace", "input", "input"),
    Spec("pixel_unshuffle", N + "pixel_unshuffle", "input, downscale_factor", "input"),
    Spec("take_along_dim", "take_along_dim", "input, indices, dim=None", "input indices"),
    Spec("scatter", "scatter", "input, dim, index, src, *, reduce=None", "input index src",
         fix=lambda v: None if is_t(v["src"]) else v.update(value=v["src"], src=None)),
    *[Spec("scatter_reduce", "scatter_reduce", "input, dim, index, src, reduce, *, include_self=True", "input index src", variant=r)
      for r in ("sum", "mean", "amin", "amax", "prod")],
    Spec("index_copy", "index_copy", "input, dim, index, source", "input index source"),
    Spec("index_fill", "index_fill", "input, dim, index, value", "input index value"),
    Spec("index_put", "index_put", "input, indices, values, accumulate=False", "input values *indices", fix=masked_index),
    Spec("masked_scatter", "masked_scatter", "input, mask, source", "input mask source"),
    Spec("nonzero_static", "nonzero_static", "input, *, size, fill_value=-1", "input"),
    Spec("searchsorted", "searchsorted", "sorted_sequence, input, *, out_int32=False, right=False, side=None, sorter=None",
         "sorted_sequence input sorter"),
    Spec("bucketize", "bucketize", "input, boundaries, *, out_int32=False, right=False", "input boundaries"),
    Spec("isin", "isin", "elements, test_elements, *, assume_unique=False, invert=False", "elements test_elements"),
    Spec("cummax", "cummax", "input, dim", "input"),
    Spec("cummin", "cummin", "input, dim", "input"),
    Spec("histc", "histc", "input, bins=100, min=0, max=0", "input"),
    Spec("norm", "norm", "input, p='fro', dim=None, keepdim=False, dtype=None", "input"),
    Spec("norm", "norm", "input, p='fro', dim=None, keepdim=False, dtype=None", "input", variant="fro"),
    Spec("norm", "norm", "input, p='fro', dim=None, keepdim=False, dtype=None", "input", variant="inf"),
    Spec("cdist", "cdist", "x1, x2, p=2.0, compute_mode='use_mm_for_euclid_dist_if_necessary'", "x1 x2"),
    Spec("pairwise_distance", N + "pairwise_distance", "x1, x2, p=2.0, eps=1e-6, keepdim=False", "x1 x2"),
    Spec("xlogy", "xlogy", "input, other", "input other"),
    Spec("xlog1py", "special.xlog1py", "input, other", "input other"),
    Spec("grid_sample", N + "grid_sample", "input, grid, mode='bilinear', padding_mode='zeros', align_corners=None", "input grid"),
    *[Spec(f"adaptive_max_pool{n}d", N + f"adaptive_max_pool{n}d", "input, output_size, return_indices=False", "input", fix=own_sizes)
      for n in (1, 2, 3)],
    Spec("adaptive_avg_pool3d", N + "adaptive_avg_pool3d", "input, output_size", "input", fix=own_sizes),
    *[Spec(f"max_pool{n}d", N + f"max_pool{n}d",
           "input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False", "input", fix=with_indices)
      for n in (1, 2, 3)],
    Spec("im2col", N + "unfold", "input, kernel_size, dilation=1, padding=0, stride=1", "input"),
    Spec("col2im", "", "input, output_size, kernel_size, dilation=1, padding=0, stride=1", "input"),
    Spec("stft", "stft", "input, n_fft, hop_length=None, win_length=None, window=None, center=True, pad_mode='reflect', normalized=False, "
         "onesided=None, return_complex=None, align_to_window=None", "input window",
         ref=lambda op, s: op(s.input, *s.args, **{**s.kwargs, "return_complex": True})),
    Spec("istft", "istft", fix=lambda v: no_complex_window(v), sig="input, n_fft, hop_length=None, win_length=None, window=None, center=True, normalized=False, onesided=None, "
         "length=None, return_complex=False", operands="input window"),
    Spec("linalg_solve_triangular", "linalg.solve_triangular", "A, B, *, upper, left=True, unitriangular=False", "A B"),
    Spec("triplet_margin_loss", N + "triplet_margin_loss",
         f"anchor, positive, negative, margin=1.0, p=2, eps=1e-6, swap=False, {OLD}", "anchor positive negative", without=ALL),
    Spec("cosine_embedding_loss", N + "cosine_embedding_loss", f"input1, input2, target, margin=0, {OLD}", "input1 input2 target", without=ALL),
    Spec("margin_ranking_loss", N + "margin_ranking_loss", f"input1, input2, target, margin=0, {OLD}", "input1 input2 target", without=ALL),
    Spec("hinge_embedding_loss", N + "hinge_embedding_loss", f"input, target, margin=1.0, {OLD}", "input target", without=ALL),
    Spec("soft_margin_loss", N + "soft_margin_loss", f"input, target, {OLD}", "input target", without=ALL),
    Spec("multi_margin_loss", N + "multi_margin_loss", f"input, target, p=1, margin=1.0, weight=None, {OLD}", "input target weight", without=ALL),
    Spec("multilabel_margin_loss", N + "multilabel_margin_loss", f"input, target, {OLD}", "input target", without=ALL),
    Spec("multilabel_soft_margin_loss", N + "multilabel_soft_margin_loss", f"input, target, weight=None, {OLD}", "input target weight",
         without=ALL),
    Spec("poisson_nll_loss", N + "poisson_nll_loss",
         "input, target, log_input=True, full=False, size_average=None, eps=1e-8, reduce=None, reduction='mean'", "input target", without=ALL),
    Spec("gaussian_nll_loss", N + "gaussian_nll_loss", "input, target, var, full=False, eps=1e-6, reduction='mean'", "input target var"),
]

T, I, B = torch.tensor, lambda *v: torch.tensor(v), lambda *v: torch.tensor(v, dtype=torch.bool)


def draw(*shape, low=-2.0, high=2.0):
    return (torch.rand(shape) * (high - low) + low).requires_grad_(True)


def own(cases):
    """Sizes of 0 and 1, odd ones, equals and edges."""
    torch.manual_seed(SEED)
    by = {s.op: s for s in reversed(SPECS)}
    index = Spec("index", "", "input, indices, dims=None", "input *indices")
    ctc = Spec("ctc_loss", "", "log_probs, targets, input_lengths, target_lengths, blank=0, reduction='mean', zero_infinity=False",
               "log_probs targets input_lengths target_lengths")
    affine = Spec("affine_grid", "", "theta, size, align_corners=None", "theta")

    def add(spec, fn, *args, **kwargs):
        spec = by[spec] if isinstance(spec, str) else spec
        name = f"{spec.op}/own"
        try:
            cases.add(spec, fn, SampleInput(args[0], args=args[1:], kwargs=kwargs), name)
        except Reject as e:
            raise SystemExit(f"{name}: {e}")

    def indexed(x, indices, dims=None):
        at = [slice(None)] * x.dim()
        for k, i in enumerate(indices):
            at[dims[k] if dims else k] = i
        return x[tuple(at)]

    for d in ("sum", "mean", "prod", "amax", "amin"):
        for self in (True, False):
            add("scatter_reduce", torch.scatter_reduce, draw(7, 3), 0, torch.randint(0, 7, (11, 3)), draw(11, 3), d, include_self=self)
        add("scatter_reduce", torch.scatter_reduce, T([2.0, 0.0, 3.0, 1.0]).requires_grad_(), 0, I(0, 1, 1, 2, 2, 0),
            T([1.0, 0.0, 2.0, 3.0, 3.0, 0.0]).requires_grad_(), d)
        add("scatter_reduce", torch.scatter_reduce, draw(3), 0, torch.zeros(0, dtype=torch.long), draw(0), d)
    add("scatter", torch.scatter, draw(5, 1), 0, torch.randperm(5)[:3, None], draw(3, 1))
    add("scatter", torch.scatter, draw(4), 0, I(3, 1), 2.5)
    add("scatter", torch.scatter, draw(4), 0, torch.zeros(0, dtype=torch.long), draw(0))
    add("index_copy", torch.index_copy, draw(3, 5), 1, I(4, 0), draw(3, 2))
    add("index_fill", torch.index_fill, draw(3, 5), 1, I(-1, 0), 7.0)
    add("index_fill", torch.index_fill, draw(3, 5), 0, I(2), T(7.0).requires_grad_())
    for x, i, dims in [((5, 4), [I(4, 0, -1)], None), ((5, 4), [I(4, 0, -1), I(0, 3, 2)], None), ((3, 5, 2), [I(2, 2), I(1, 0)], [0, 2]),
                       ((3, 5, 2), [I(4, 1)[:, None], I(1, 0, 1)], [1, 2]), ((3,), [torch.zeros(0, dtype=torch.long)], None), ((1,), [T(0)], None)]:
        add(index, indexed, draw(*x), i, **({"dims": dims} if dims else {}))
    add("index_put", lambda x, i, v, accumulate=False: x.index_put(i, v, accumulate), draw(4, 3), (I(0, 3), I(2, 1)), draw(2))
    add("index_put", lambda x, i, v, accumulate=False: x.index_put(i, v, accumulate), draw(4, 3), (I(1, 1, -1),), draw(3), accumulate=True)
    add("masked_scatter", torch.masked_scatter, draw(3, 4), B([1, 0, 1, 1]), draw(17))
    add("masked_scatter", torch.masked_scatter, draw(1), B([0]), draw(1))
    for size in (0, 1, 3, 9):
        add("nonzero_static", torch.nonzero_static, T([[1.0, 0, 2], [0, 0, 3]]), size=size)
    for n in (1, 2, 7, 33):
        add("searchsorted", torch.searchsorted, torch.sort(torch.randint(0, 9, (n,)).float())[0], torch.randint(-1, 11, (3, 5)).float(), right=n % 2 == 0)
    add("searchsorted", torch.searchsorted, T([[1.0, 2, 2, 3], [0, 5, 5, 9]]), T([[2.0, math.nan, 4], [-1, 5, 10]]))
    add("bucketize", torch.bucketize, T([[1, 5], [3, 9]]), I(1, 3, 5), right=True)
    for f in ("cummax", "cummin"):
        add(f, getattr(torch, f), T([1.0, 3, 3, 2, 5, 5, 0]).requires_grad_(), 0)
        add(f, getattr(torch, f), T([[1.0, math.nan, 3, math.nan, 0]]), 1)
        add(f, getattr(torch, f), draw(0, 3), 0)
        add(f, getattr(torch, f), draw(1), 0)
    add("histc", torch.histc, T([1.0, 2, 1, 4, 5, -1, 2.5]), bins=4)
    add("histc", torch.histc, T([2.0, 2, 2]), bins=3)
    add("isin", torch.isin, torch.randint(0, 5, (3, 2)), torch.randint(0, 5, (0,)))
    add("isin", torch.isin, torch.randint(0, 5, (3, 2)), torch.randint(0, 5, (4,)), invert=True)
    for p in (0.0, 0.5, 1.0, 2.0, 3.0, math.inf):
        add("cdist", torch.cdist, draw(2, 5, 3), draw(7, 3), p=p)
    same = draw(3, 2)
    add("cdist", torch.cdist, same, same.detach().clone())
    add("xlogy", torch.xlogy, T([0.0, 0, 0, 2, 1]), T([0.0, math.nan, 2, 3, math.inf]))
    for n, left, upper in ((1, True, True), (5, True, False), (6, False, True), (8, False, False), (13, True, True)):
        a = draw(2, n, n).detach() + 3 * torch.eye(n)
        add("linalg_solve_triangular", torch.linalg.solve_triangular, a.requires_grad_(), draw(2, n, 3) if left else draw(2, 3, n), upper=upper, left=left)
    add("linalg_solve_triangular", torch.linalg.solve_triangular, draw(1, 4, 4), draw(3, 4, 2), upper=True, unitriangular=True)
    for mode in ("bilinear", "nearest", "bicubic"):
        for edge in ("zeros", "border", "reflection"):
            add("grid_sample", F.grid_sample, draw(2, 3, 4, 5), draw(2, 3, 2, 2, low=-1.7, high=1.7), mode=mode, padding_mode=edge, align_corners=edge == "border")
    add("grid_sample", F.grid_sample, draw(1, 2, 3, 1, 4), draw(1, 2, 2, 2, 3, low=-1.3, high=1.3), align_corners=False)
    add(affine, F.affine_grid, draw(2, 2, 3), [2, 3, 4, 5], align_corners=True)
    add(affine, F.affine_grid, draw(1, 3, 4), [1, 1, 2, 1, 3], align_corners=False)
    add("im2col", F.unfold, draw(2, 3, 5, 7), (3, 2), dilation=(1, 2), padding=(1, 0), stride=(2, 1))
    add("col2im", F.fold, draw(2, 18, 15), (5, 7), (3, 2), dilation=(1, 2), padding=(1, 0), stride=(2, 1))
    add("stft", torch.stft, draw(31), 9, hop_length=4, win_length=7, window=draw(7, low=0.5), normalized=True)
    add("istft", torch.istft, torch.complex(draw(3, 5, 4), draw(3, 5, 4)).detach().requires_grad_(), 8, hop_length=3, length=15, normalized=True)
    for full in (False, True):
        add("gaussian_nll_loss", F.gaussian_nll_loss, draw(3, 2), draw(3, 2), T([0.5, 1e-9, 2.0]).requires_grad_(), full=full)
        add("poisson_nll_loss", F.poisson_nll_loss, draw(4), T([0.0, 1, 2, 7]), full=full)
    add("multi_margin_loss", F.multi_margin_loss, draw(3, 5), I(4, 0, 2), p=2, margin=0.5, weight=torch.rand(5))
    add("multi_margin_loss", F.multi_margin_loss, draw(5), T(3), reduction="sum")
    add("multilabel_margin_loss", F.multilabel_margin_loss, draw(3, 4), T([[3, 0, -1, 1], [-1, 0, 0, 0], [0, 1, 2, 3]]), reduction="none")
    add("cosine_embedding_loss", F.cosine_embedding_loss, draw(4, 3), draw(4, 3), I(1, -1, 1, -1), margin=0.2)
    for reduction in ("none", "mean", "sum"):
        lp = torch.log_softmax(draw(9, 3, 4).detach(), 2).requires_grad_()
        targets = T([[1, 2, 2, 3], [3, 3, 1, 0], [2, 1, 1, 1]])
        add(ctc, F.ctc_loss, lp, targets, I(9, 8, 5), I(4, 3, 1), reduction=reduction)
        add(ctc, F.ctc_loss, lp.detach().clone().requires_grad_(), torch.cat([targets[0], targets[1, :3], targets[2, :1]]), I(9, 8, 5), I(4, 3, 1), reduction=reduction)
    add(ctc, F.ctc_loss, lp.detach().clone().requires_grad_(), targets, I(3, 8, 5), I(4, 3, 0), zero_infinity=True, reduction="sum")
    add(ctc, F.ctc_loss, torch.log_softmax(draw(6, 5).detach(), 1).requires_grad_(), I(1, 2), T(6), T(2), blank=4)


cases = Cases()
samples(cases, SPECS)
own(cases)
save_file(cases.tensors, HERE / "ops.safetensors")
lines = ",\n".join(json.dumps(c, separators=(",", ":")) for c in cases.cases)
(HERE / "ops.json").write_text(f'{{"torch": "{torch.__version__}", "cases": [\n{lines}\n]}}\n')
print(len(cases.cases), "cases,", sum(t.numel() * t.element_size() for t in cases.tensors.values()) // 1024, "KiB")
