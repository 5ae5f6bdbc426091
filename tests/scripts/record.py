"""Records what PyTorch prints for every script of this directory, and for every example with the arguments that `examples.txt` gives it:
python tests/scripts/record.py [NAME ...]

The outputs are of PyTorch 2.15 on a CPU (x86-64); scikit-learn, SciPy, tyro and Gymnasium are there for the scripts that use them. A script's standard output goes to NAME.out; of one that ends with an exception, the
last line of its traceback follows. Scripts of `ranks` are run by four processes, whose outputs follow one another.
"""

import os

import pathlib
import subprocess
import sys

here = pathlib.Path(__file__).parent.resolve()
runs = [(script, [], here / (script.stem + ".out")) for script in sorted(here.glob("*.py")) if script.name != "record.py"]
for line in (here / "examples.txt").read_text().splitlines():
    name, *arguments = line.split()
    runs.append((here.parent.parent / "examples" / (name + ".py"), arguments, here / "examples" / (name + ".out")))
for script, arguments, to in runs:
    if len(sys.argv) > 1 and script.stem not in sys.argv[1:]:
        continue
    done = subprocess.run([sys.executable, script.name, *arguments], cwd=script.parent, capture_output=True, text=True)
    out = done.stdout
    if done.returncode:
        out += done.stderr.strip().splitlines()[-1] + "\n"
    to.write_text(out)
    print(script.stem, done.returncode)
for script in sorted((here / "ranks").glob("*.py")):
    if len(sys.argv) > 1 and script.stem not in sys.argv[1:]:
        continue
    world = {"WORLD_SIZE": "4", "LOCAL_WORLD_SIZE": "4", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "29531", "OMP_NUM_THREADS": "1"}
    ranks = [subprocess.Popen([sys.executable, script.name], cwd=script.parent, env={**os.environ, **world, "RANK": str(r), "LOCAL_RANK": str(r)},
                              stdout=subprocess.PIPE, text=True) for r in range(4)]
    outputs = [rank.communicate()[0] for rank in ranks]
    script.with_suffix(".out").write_text("".join(f"rank {r}\n{out}" for r, out in enumerate(outputs)))
    print("ranks", script.stem, [rank.returncode for rank in ranks])
