"""Records what PyTorch prints for every script of this directory, and for every example with the arguments that `examples.txt` gives it:
python tests/scripts/record.py [NAME ...]

The outputs are of PyTorch 2.15 on a CPU (x86-64); scikit-learn, SciPy, tyro and Gymnasium are there for the scripts that use them. A script's standard output goes to NAME.out; of one that ends with an exception, the
last line of its traceback follows.
"""

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
