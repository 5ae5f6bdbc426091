"""Records what PyTorch prints for every script of this directory: python tests/scripts/record.py [NAME ...]

The outputs are of PyTorch 2.15 on a CPU (x86-64). A script's standard output goes to NAME.out; of one that ends with an exception, the
last line of its traceback follows.
"""

import pathlib
import subprocess
import sys

here = pathlib.Path(__file__).parent
for script in sorted(here.glob("*.py")):
    if script.name == "record.py" or (len(sys.argv) > 1 and script.stem not in sys.argv[1:]):
        continue
    done = subprocess.run([sys.executable, script.name], cwd=here, capture_output=True, text=True)
    out = done.stdout
    if done.returncode:
        out += done.stderr.strip().splitlines()[-1] + "\n"
    (here / (script.stem + ".out")).write_text(out)
    print(script.stem, done.returncode)
