"""Runs generated scripts in PyTorch (`record`), then in aludel, and says what differs.

    python compare.py record OUT [PATTERN]
    python compare.py check OUT BINARY [PATTERN]      # --device, --mode of `aludel run` by the variable ALUDEL
"""
import concurrent.futures
import os
import pathlib
import re
import shlex
import subprocess
import sys

NUMBER = re.compile(r"(?<![\w.])-?(?:\d+\.?\d*(?:e[-+]?\d+)?|inf|nan)(?![\w])")


def parts(text):
    return NUMBER.split(text), [float(v) for v in NUMBER.findall(text)]


def differs(have, want):
    """Why one line is not the other, or nothing: texts are equal, numbers within the tolerance of their type."""
    if have == want:
        return None
    if have.startswith("!") or want.startswith("!"):
        if not want.startswith("!"):
            return "refused"
        if not have.startswith("!"):
            return "types beyond" if "not implemented for" in want else "accepted"
        if re.match(r"!NotImplementedError: [\w.]+ is not there", have):
            return "absent"
        return "type" if have.split(":")[0] != want.split(":")[0] else "words"
    (a, x), (b, y) = parts(have), parts(want)
    if a != b or len(x) != len(y):
        return "text"
    finite = [abs(v) for v in y if abs(v) < float("inf")]
    narrow = "bfloat16" in want or "float16" in want
    relative, scale = (3e-2, max(finite + [0])) if narrow else (2e-4, min(max(finite + [0]), 1.0))
    for p, q in zip(x, y):
        if p == q or p != p and q != q:
            continue
        if not abs(p - q) <= relative * (abs(q) + scale) + 2e-6:
            return "values"
    return None


def lines(text):
    found = {}
    for line in text.splitlines():
        p = line.split("|", 2)
        if len(p) == 3:
            found.setdefault((p[0], p[1]), []).append(p[2])
    return {k: "\n".join(v) for k, v in found.items()}


def run(command, path):
    try:
        done = subprocess.run(command + [path.name], cwd=path.parent, capture_output=True, text=True, timeout=900,
                              env={**os.environ, "OMP_NUM_THREADS": "1"})
        return done.stdout, "" if done.returncode == 0 else done.stderr[-600:]
    except subprocess.TimeoutExpired as e:
        return (e.stdout or b"").decode(), "timed out"


def main():
    out = pathlib.Path(sys.argv[2]).resolve()
    pattern = (sys.argv[3:] if sys.argv[1] == "record" else sys.argv[4:]) or [""]
    scripts = [p for p in sorted(out.glob("*.py")) if pattern[0] in p.name]
    if sys.argv[1] == "record":
        for p in scripts:
            text, error = run([sys.executable], p)
            p.with_suffix(".want").write_text(text)
            print(p.stem, len(lines(text)), error)
        return
    command = [sys.argv[3], "run", *shlex.split(os.environ.get("ALUDEL", "--device cpu --mode eager"))]
    total, counts = 0, {}
    for p in scripts:
        want = lines(p.with_suffix(".want").read_text())
        text, error = run(command, p)
        p.with_suffix(".have").write_text(text)
        have = lines(text)
        total += len(want)
        if error:
            print(f"## {p.stem}: {error}", flush=True)
        for key, w in want.items():
            h = have.get(key)
            why = "missing" if h is None else differs(h, w)
            if why:
                counts[why] = counts.get(why, 0) + 1
                print(f"{why}: {key[0]} | {key[1]}\n    {(h or '')[:700]}\n    {w[:700]} is PyTorch's", flush=True)
    print(f"== {total} lines of {len(scripts)} scripts:", counts, flush=True)


main()
