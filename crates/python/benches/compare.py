"""Times the programs of this folder here and on CPython 3.12, and prints how much longer they take here.

    cargo build --release -p aludel-python --example run
    python3.12 crates/python/benches/compare.py target/release/examples/run [RUNS]

Each program prints its own name and seconds. The two take turns, and the least of the runs counts (seven unless told): what else the
machine does then falls on both.
"""
import pathlib
import subprocess
import sys


def seconds(command):
    return float(subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()[1])


runs = int(sys.argv[2]) if len(sys.argv) > 2 else 7
for path in sorted(pathlib.Path(__file__).parent.glob("*.py")):
    if path.name != "compare.py":
        pairs = [(seconds([sys.executable, str(path)]), seconds([sys.argv[1], str(path)])) for _ in range(runs)]
        theirs, ours = (min(times) for times in zip(*pairs))
        print(f"{path.stem:10} {ours:.3f} s here, {theirs:.3f} s on CPython: {ours / theirs:.2f}")
