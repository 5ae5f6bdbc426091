import argparse
import os
import tempfile

parser = argparse.ArgumentParser(prog="run")
parser.add_argument("--foo")
parser.add_argument("--must", required=True)
parser.add_argument("cmd")
parser.add_argument("rest", nargs="*", type=int)
print(parser.parse_intermixed_args("doit 1 --foo bar 2 --must x 3".split()))
print(parser.parse_known_intermixed_args("doit --must x --other 1 --foo b".split()))
print(parser, argparse.ArgumentParser("p", add_help=False, description="d"))
other = argparse.ArgumentParser(prog="run")
other.add_argument("words", nargs="...")
try:
    other.parse_intermixed_args(["a"])
except TypeError as error:
    print(error)
print(argparse.FileType("w", encoding="latin-1"), argparse.FileType("wb", 0), argparse.FileType())
path = os.path.join(tempfile.mkdtemp(), "x")
with argparse.FileType("w", encoding="latin-1")(path) as file:
    file.write("é")
print(open(path, "rb").read())
