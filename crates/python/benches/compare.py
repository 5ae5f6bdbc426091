"""Times the programs of this folder here and on CPython 3.12, and prints how much longer they take here.

    cargo build --release -p aludel-python --example run
    python3.12 crates/python/benches/compare.py target/release/examples/run

Each program prints its own name and seconds; the least of five runs counts.
"""
import pathlib
import subprocess
import sys


def seconds(command):
    return min(float(subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()[1]) for _ in range(5))


for path in sorted(pathlib.Path(__file__).parent.glob("*.py")):
    if path.name != "compare.py":
        theirs, ours = seconds([sys.executable, str(path)]), seconds([sys.argv[1], str(path)])
        print(f"{path.stem:10} {ours:.3f} s here, {theirs:.3f} s on CPython: {ours / theirs:.2f}")
