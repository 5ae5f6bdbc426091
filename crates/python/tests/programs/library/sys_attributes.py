import atexit
import sys
import timeit

print(sys.version_info.major, sys.version_info >= (3, 8), sys.version_info[:2], repr(sys.version_info)[:25])
from sys import float_info
print(float_info.max, float_info.max_exp, sys.int_info.bits_per_digit, sys.hash_info.modulus, sys.flags.optimize, sys.flags.dev_mode)
print(sys.getdefaultencoding(), sys.getfilesystemencoding(), sys.gettrace(), sys.get_int_max_str_digits())
print([line for line in sys.stdin], sys.stdin.readlines())
sys.set_int_max_str_digits(0)
print(len(str(10**5000)))
sys.set_int_max_str_digits(4300)
try:
    str(10**5000)
except ValueError as e:
    print(e)
try:
    1 / 0
except ZeroDivisionError:
    print(repr(sys.exception()))
print(sys.exception(), hasattr(sys, "nosuch"))
try:
    sys.nosuch
except AttributeError as e:
    print(e)
sys.stdout.reconfigure(line_buffering=True)
sys.stdout.buffer.write(b"bytes\n")
sys.stdout.buffer.flush()
# Text is run as a function; names of the setup are local to the statement.
print(timeit.timeit("x + 1", setup="x = 1", number=100) >= 0, timeit.timeit("n()", globals={"n": lambda: 1}, number=3) >= 0)
print(len(timeit.repeat("pass\nfor i in range(3):\n    i", number=2, repeat=2)), timeit.timeit(lambda: 1, number=2) >= 0)
print(__import__("os.path", fromlist=["join"]).__name__, __import__("os.path").__name__)


def hook(kind, value, tb):
    print("hook", kind.__name__, value, tb is not None)


atexit.register(print, "atexit")
sys.excepthook = hook
raise ValueError("end")
