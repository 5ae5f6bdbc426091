"""Records what CPython 3.12 prints for the programs of this directory: NAME.out beside each NAME.py.

Run as `python3.12 record.py [PATH ...]`; without paths, all programs. An .out file is the standard output followed by the
standard error (tracebacks, warnings). Paths of programs are cut to their names, and frames of CPython's own library are left
out, as ours has other ones. A program runs in its own folder with an empty folder for temporary files, no input, and the
arguments of its first line if that begins with `# argv:`.
"""
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent / "programs"


def normal(text, folder):
    """Cuts paths, and drops frames of the library: a `File` line and the deeper lines below it."""
    out, dropping = [], False
    for line in text.split("\n"):
        frame = re.match(r'  File "(.*?)", line \d+', line)
        if frame:
            dropping = not frame[1].startswith(str(folder))
        elif not line.startswith("    "):
            dropping = False
        if not dropping:
            out.append(line.replace(f"{folder}{os.sep}", ""))
    return "\n".join(out)


def record(path):
    source = path.read_text()
    first = source.split("\n", 1)[0]
    arguments = shlex.split(first.removeprefix("# argv:")) if first.startswith("# argv:") else []
    environment = {"PYTHONHASHSEED": "0", "COLUMNS": "80", "PATH": os.environ["PATH"], "HOME": "/home/user", "LC_ALL": "C.UTF-8", "TZ": "UTC"}
    with tempfile.TemporaryDirectory() as scratch:
        environment["TMPDIR"] = scratch
        done = subprocess.run([sys.executable, "-B", str(path), *arguments], cwd=path.parent, env=environment, text=True,
                              stdin=subprocess.DEVNULL, capture_output=True, timeout=60)
    path.with_suffix(".out").write_text(normal(done.stdout + done.stderr, path.parent))


def main():
    assert sys.version_info[:2] == (3, 12), sys.version
    paths = [pathlib.Path(p).resolve() for p in sys.argv[1:]] or sorted(HERE.glob("*/*.py"))
    for path in paths:
        record(path)
    print(f"{len(paths)} programs")


main()
