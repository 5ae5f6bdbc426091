"""Examples of documentation as plain scripts: what docstrings and reStructuredText show, a block for each docstring or section.

    python examples.py make OUT [RST..]             # docstrings of torch, numpy, einops and the standard library, and sections of files
    python examples.py record OUT [PATTERN]         # what CPython prints for them
    python examples.py check OUT BINARY [PATTERN]   # runs them in aludel, and says what differs: the first line of each block, and later ones

Each statement runs on its own; values of expressions are printed by repr, exceptions as `!Type: message`.
"""
import ast
import importlib
import inspect
import os
import pathlib
import re
import subprocess
import sys
import textwrap
import warnings

warnings.filterwarnings("ignore")
PROMPT = re.compile(r"^(\s*)>>>(?: (.*)|)$")
CODE = re.compile(r"^\s*(?:\.\. (?:code-block|code|testcode|sourcecode)::(?: *python3?)?|(?!\.\. ).*::)\s*$")
# What takes a GPU, a network, a compiler or processes.
BEYOND = re.compile(r"cuda|rpc\b|init_process_group|distributed\.|torch\.compile|onnx|quantiz|download|http|\bhub\b|spawn|_dynamo|export|mps|xpu"
                    r"|urlopen|input\(\)|subprocess|asyncio|sqlite|ctypes|fork|matplotlib|plt\.|complex128|cdouble|torchscript|torch\.jit|help\(|Process\(|socket")

TORCH = """torch torch.nn torch.nn.functional torch.nn.init torch.nn.utils torch.nn.utils.rnn torch.nn.utils.parametrize
torch.nn.utils.parametrizations torch.nn.utils.prune torch.nn.utils.stateless torch.nn.utils.clip_grad torch.nn.utils.fusion torch.nn.parameter
torch.nn.attention torch.nn.attention.flex_attention torch.nn.attention.bias torch.optim torch.optim.lr_scheduler torch.optim.swa_utils torch.optim.optimizer torch.linalg torch.fft torch.special torch.distributions
torch.distributions.constraints torch.distributions.transforms torch.distributions.kl torch.autograd torch.autograd.functional
torch.autograd.forward_ad torch.autograd.graph torch.autograd.profiler torch.autograd.function torch.func torch.utils.data torch.utils.checkpoint torch.utils.hooks
torch.utils.tensorboard torch.masked torch.amp torch.sparse torch.signal.windows torch.overrides torch.fx torch.library torch.random torch.types
torch.testing torch.nested torch.futures torch.profiler torch.backends torch.utils.flop_counter torch.utils.swap_tensors torch.utils.dlpack torch.serialization""".split()
NUMPY = "numpy numpy.linalg numpy.fft numpy.random numpy.ma numpy.char numpy.strings numpy.polynomial numpy.polynomial.polynomial numpy.lib.stride_tricks numpy.testing".split()
STD = """collections itertools functools dataclasses enum statistics heapq bisect textwrap string re datetime argparse contextlib copy json logging
random operator fractions decimal configparser csv struct math cmath calendar colorsys difflib fnmatch glob hashlib html inspect io keyword numbers os
pathlib pickle pprint queue reprlib secrets shlex shutil tempfile time timeit tokenize traceback types typing unicodedata unittest uuid warnings weakref
zlib graphlib ast base64 binascii array abc getopt string.templatelib tomllib threading concurrent.futures collections.abc codecs contextvars gzip
zipfile tarfile locale gettext os.path hmac cmd dis sched stat linecache builtins unittest.mock importlib""".split()


def parsed(source):
    try:
        return ast.parse(source).body
    except (SyntaxError, ValueError):
        return None


def pieces(text):
    """The statements that a text shows, in order."""
    rows, found, i = text.expandtabs().splitlines(), [], 0
    while i < len(rows):
        m = PROMPT.match(rows[i])
        if m:
            source, i = [m[2] or ""], i + 1
            while i < len(rows) and (rows[i].strip().startswith("... ") or rows[i].strip() == "..."):
                source.append(rows[i].strip()[4:])
                i += 1
            body, more = parsed("\n".join(source)), i
            while body is None and more < min(len(rows), i + 12) and not PROMPT.match(rows[more]):
                source.append(rows[more])
                body, more = parsed("\n".join(source)), more + 1
            found += body or []
        elif CODE.match(rows[i]):
            base, i, source = len(rows[i]) - len(rows[i].lstrip()), i + 1, []
            while i < len(rows) and (not rows[i].strip() or len(rows[i]) - len(rows[i].lstrip()) > base) and not PROMPT.match(rows[i]):
                if not re.match(r"^\s*:[\w-]+:", rows[i]) or source:
                    source.append(rows[i])
                i += 1
            found += parsed(textwrap.dedent("\n".join(source))) or []
        else:
            i += 1
    return found


def written(block, preamble, statements):
    out = ["from h import B, R, E", *[f"try:\n    {p}\nexcept BaseException as e_:\n    B(-1, {p!r}); E(e_)" for p in preamble]]
    for n, s in enumerate(statements):
        source = ast.unparse(s)
        if isinstance(s, ast.Expr):
            source = f"R({ast.unparse(s.value)})"
        elif isinstance(s, ast.ImportFrom) and s.module == "__future__":
            continue
        out.append(f"try:\n    B({n}, {ast.unparse(s)[:300]!r})\n{textwrap.indent(source, '    ')}\nexcept BaseException as e_:\n    E(e_)")
    return "\n".join(out) + "\n"


def objects(names):
    seen = set()
    for name in names:
        try:
            module = importlib.import_module(name)
        except ImportError as e:
            print("no", name, e)
            continue
        yield name, name, None, module.__doc__ or ""
        for key in sorted(getattr(module, "__all__", None) or dir(module)):
            if key.startswith("_"):
                continue
            try:
                v = getattr(module, key)
            except Exception:
                continue
            if inspect.ismodule(v):
                continue
            own = [(f"{name}.{key}", v)]
            if inspect.isclass(v):
                own += [(f"{name}.{key}.{k}", getattr(v, k, None)) for k in dir(v) if not k.startswith("_") or k in ("__init__", "__format__")]
            for path, o in own:
                doc = getattr(o, "__doc__", None)
                if isinstance(doc, str) and doc not in seen:
                    seen.add(doc)
                    yield path, name, key, doc


def sections(path):
    rows = pathlib.Path(path).read_text().splitlines()
    start, title = 0, "top"
    for i in range(1, len(rows) + 1):
        if i == len(rows) or (i + 1 < len(rows) and len(rows[i]) >= 3 and re.match(r"^(=+|-+|~+|\^+|\"+)$", rows[i]) and rows[i - 1].strip() and len(rows[i]) >= len(rows[i - 1].strip()) - 1):
            yield title, "\n".join(rows[start:i])
            start, title = i + 1, re.sub(r"\W+", "_", rows[i - 1])[:40]


def make(out, files):
    out.mkdir(exist_ok=True, parents=True)
    (out / "h.py").write_text(HELPER)
    made = []

    def add(kind, name, preamble, text):
        if BEYOND.search(text):
            text = "\n\n".join(p for p in re.split(r"\n\s*\n", text) if not BEYOND.search(p))
        statements = [s for s in pieces(text) if not re.search(r"\bplt\b|matplotlib", ast.unparse(s))]
        if statements:
            made.append((kind, f"{kind}_{len(made):05}", name, written(name, preamble, statements), len(statements)))

    usual = ["import math", "import torch", "import torch.nn as nn", "import torch.nn.functional as F", "from torch import Tensor", "import numpy as np", "from h import usual; globals().update(usual())"]
    for path, module, key, doc in objects(TORCH):
        add("torch", path, usual + ([f"from {module} import {key}"] if key and module != "torch" else []), doc)
    for path, module, key, doc in objects(["einops", "einops.layers.torch"]):
        add("einops", path, ["import numpy as np", "import torch", f"from {module} import *"], doc)
    for path, module, key, doc in objects(NUMPY):
        add("numpy", path, ["import numpy as np", "import numpy", "from h import seeded; seeded()"] + ([f"from {module} import {key}"] if key and module != "numpy" else []), doc)
    for path, module, key, doc in objects(STD):
        add("std", path, [f"from {module} import *", f"import {module}"], doc)
    for file in files:
        stem = pathlib.Path(file).name.split(".")[0] if "library" not in file else pathlib.Path(file).name.replace(".rst.txt", "")
        for title, text in sections(file):
            add("rst", f"{stem}:{title}", ["from h import seeded; seeded()"] + ([f"from {stem} import *", f"import {stem}"] if stem in STD else []), text)
    for kind in {m[0] for m in made}:
        mine = [m for m in made if m[0] == kind]
        print(kind, len(mine), "blocks", sum(m[4] for m in mine), "statements")
        for i in range(0, len(mine), 40):
            batch = mine[i:i + 40]
            for _, file, _, text, _ in batch:
                (out / f"{file}.py").write_text(text)
            (out / f"run_{kind}_{i // 40:03}.txt").write_text("".join(f"{file} {name}\n" for _, file, name, _, _ in batch))


HELPER = '''"""What blocks print with."""
import random
import re


def B(n, source):
    print(f"\\n@@ {n} {source!r}")


def R(v):
    if v is not None:
        text = repr(v)
        print(text[:3000])


def E(e):
    print("!" + type(e).__name__ + ": " + str(e)[:1000])


def seeded():
    import numpy
    numpy.random.seed(0)
    random.seed(0)


def usual():
    import torch
    from torch import nn
    torch.manual_seed(0)
    torch.set_default_dtype(torch.float32)
    torch.set_printoptions(profile="default")
    torch.set_grad_enabled(True)
    seeded()
    model = nn.Sequential(nn.Linear(4, 5), nn.ReLU(), nn.Linear(5, 3))
    input, target = torch.randn(2, 4), torch.tensor([1, 2])
    dataset = torch.utils.data.TensorDataset(torch.randn(8, 4), torch.arange(8) % 3)
    loader = torch.utils.data.DataLoader(dataset, batch_size=4)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    nothing = lambda *args, **kwargs: None
    return dict(model=model, input=input, target=target, dataset=dataset, loader=loader, data_loader=loader, dataloader=loader, train_loader=loader,
                optimizer=optimizer, loss_fn=nn.CrossEntropyLoss(), loss_function=nn.CrossEntropyLoss(), criterion=nn.CrossEntropyLoss(),
                train=nothing, validate=lambda *a: 1.0, epoch=0, optim=torch.optim)
'''
DRIVER = """import sys
try:
    import signal
    def late(*_):
        raise SystemError("too long")
    signal.signal(signal.SIGALRM, late)
except Exception:
    signal = None
names = {names!r}
for name in names:
    print("\\n@@@@ " + name, flush=True)
    if signal and {timed}:
        signal.alarm(20)
    try:
        __import__(name)
    except BaseException as e:
        print("!!" + type(e).__name__ + ": " + str(e)[:500])
    if signal and {timed}:
        signal.alarm(0)
print("\\n@@@@ end", flush=True)
"""


def run(command, out, names, timed, limit):
    """Texts by block; a block that ends its process, or hangs, is left, and the others go on."""
    found, left = {}, list(names)
    while left:
        driver = out / f"driver_{os.getpid()}_{left[0]}.py"
        driver.write_text(DRIVER.format(names=left, timed=timed))
        try:
            done = subprocess.run(command + [driver.name], cwd=out, capture_output=True, stdin=subprocess.DEVNULL, timeout=limit, env={**os.environ, "OMP_NUM_THREADS": "1"})
            text, error = done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace")[-1500:]
        except subprocess.TimeoutExpired as e:
            text, error = (e.stdout or b"").decode(errors="replace"), "timed out"
        driver.unlink()
        got = re.split(r"^@@@@ (.*)\n", text, flags=re.M)[1:]
        mine = dict(zip(got[::2], got[1::2]))
        ended = "end" in mine
        mine.pop("end", None)
        if not mine and not ended:
            mine = {left[0]: ""}
        found.update(mine)
        if not ended:
            last = list(mine)[-1]
            found[last] += f"\n!!ended: {error}\n"
        left = [] if ended else [n for n in left if n not in mine]
    return found


def statements(text):
    parts = re.split(r"^@@ (-?\d+ .*)\n", text, flags=re.M)
    out = dict(zip(parts[1::2], (p.strip("\n") for p in parts[2::2])))
    if "!!" in parts[0]:
        out["import"] = parts[0].strip()
    return out


NUMBER = re.compile(r"(?<![\w.])-?(?:\d+\.?\d*(?:e[-+]?\d+)?|inf|nan)(?![\w])|(?<![\w])-?\.\d+")
HIDDEN = [(re.compile(r"0x[0-9a-fA-F]{6,}"), "0x.."), (re.compile(r"/tmp/\S+"), "/tmp"), (re.compile(r"grad_fn=<\w+>"), "grad_fn"), (re.compile(r"np\.(True|False)_"), r"\1"), (re.compile(r"\s+"), " ")]


def differs(have, want):
    for a, b in HIDDEN:
        have, want = a.sub(b, have), a.sub(b, want)
    if have == want:
        return None
    if "!" in (have[:1], want[:1]) or "\n!" in have or "\n!" in want:
        if "!" not in want:
            return "absent" if re.search(r"NotImplementedError: [\w.]+ is not there|No module named", have) else "refused"
        if "!" not in have:
            return "accepted"
        return "type" if have.split(":")[0] != want.split(":")[0] else "words"
    a, b = NUMBER.split(have), NUMBER.split(want)
    if a != b:
        return "text"
    for p, q in zip(map(float, NUMBER.findall(have)), map(float, NUMBER.findall(want))):
        if p != q and not (p != p and q != q) and not abs(p - q) <= 1e-4 * abs(q) + 2e-6:
            return "values"
    return None


def main():
    out = pathlib.Path(sys.argv[2]).resolve()
    if sys.argv[1] == "make":
        return make(out, sys.argv[3:])
    recording = sys.argv[1] == "record"
    pattern = ((sys.argv[3:] if recording else sys.argv[4:]) or [""])[0]
    totals, blocks, count = {}, 0, 0
    for batch in sorted(out.glob("run_*.txt")):
        if pattern not in batch.name:
            continue
        names = dict(line.split(" ", 1) for line in batch.read_text().splitlines())
        if recording:
            if batch.with_suffix(".want").exists():
                continue
            got = run([sys.executable, "-W", "ignore"], out, names, True, 400)
            batch.with_suffix(".want").write_text(repr(got))
            print(batch.stem, len(got), flush=True)
            continue
        want = ast.literal_eval(batch.with_suffix(".want").read_text())
        names = {k: v for k, v in names.items() if "!!" not in want.get(k, "!!")}
        have = run([sys.argv[3], "run", "--device", "cpu", "--mode", "eager"], out, names, False, 150)
        batch.with_suffix(".have").write_text(repr(have))
        for file, name in names.items():
            w, h = statements(want[file]), statements(have.get(file, ""))
            blocks += 1
            first = True
            if "import" in h or "!!ended" in have.get(file, ""):
                print(f"## whole: {name} ({file}): {have[file][-400:]}")
                totals["whole"] = totals.get("whole", 0) + 1
                if "import" in h:
                    continue
            for key, text in {**w, **{k: h[k] for k in h if k not in w}}.items():
                count += 1
                why = "missing" if key not in h else "accepted" if key not in w and "!" not in h[key] else differs(h[key], w.get(key, ""))
                if not why:
                    continue
                label = why if first else "later " + why
                totals[label] = totals.get(label, 0) + 1
                print(f"{label}: {name} ({file}) {key[:300]}\n    have {h.get(key, '')[:600]}\n    want {w.get(key, '')[:600]}")
                first = False
    if not recording:
        print(f"== {blocks} blocks, {count} statements:", dict(sorted(totals.items())))


main()
