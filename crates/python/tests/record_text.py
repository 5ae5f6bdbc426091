"""Writes data/text.tsv: what CPython makes of random numbers, specifications and texts (the test is text.rs).

Run with CPython 3.12: `python3.12 record_text.py [ROWS] > data/text.tsv`. A row is an operation, its arguments and the result,
or `!` with the exception; tabs, line ends and backslashes are escaped.
"""
import random
import struct
import sys

ROWS = int(sys.argv[1]) if len(sys.argv) > 1 else 2400
rng = random.Random(20240912)


def escape(s):
    return s.replace("\\", "\\\\").replace("\t", "\\t").replace("\n", "\\n").replace("\r", "\\r")


def row(operation, arguments, function):
    try:
        result = function()
    except Exception as e:
        result = f"!{type(e).__name__}: {e}"
    print("\t".join(escape(x) for x in [operation, *arguments, result]))


def real():
    kind = rng.randrange(8)
    if kind == 0:
        return struct.unpack("<d", rng.randbytes(8))[0]
    if kind == 1:
        return rng.randrange(-1000, 1000) / 2 ** rng.randrange(8)
    if kind == 2:
        return rng.choice([0.0, -0.0, 1e16, 1e15, 1e-4, 1e-5, 0.5, 1.5, 2.5, float("inf"), float("-inf"), float("nan"), 9.995, 99999.5, 5e-324])
    if kind == 3:
        return float(f"{rng.randrange(1, 99)}e{rng.randrange(-20, 25)}")
    return rng.uniform(-10, 10) * 10 ** rng.randrange(-6, 9)


def integer():
    return rng.choice([0, 1, -1, 7, 255, -1234, rng.randrange(-10**6, 10**6), rng.randrange(-10**30, 10**30), 2**64])


LETTERS = "abcXYZ 019_,.;\t\n\r\x0b\x1c'\"\\éßΣσςüñ中日😀\xa0\u2028\u200b\u0301ǆﬁ½²٣İı"


def text(most=8):
    return "".join(rng.choice(LETTERS) for _ in range(rng.randrange(most + 1)))


def spec(types):
    s = ""
    if rng.random() < 0.4:
        s += rng.choice(["<", ">", "^", "=", "*<", "0>", "é^", "x=", "0="])
    if rng.random() < 0.3:
        s += rng.choice("+- ")
    if rng.random() < 0.1:
        s += "z"
    if rng.random() < 0.2:
        s += "#"
    if rng.random() < 0.3:
        s += "0"
    if rng.random() < 0.6:
        s += str(rng.randrange(25))
    if rng.random() < 0.25:
        s += rng.choice([",", "_", "_", ",_", "__"])
    if rng.random() < 0.4:
        s += "." + str(rng.randrange(12))
    if rng.random() < 0.8:
        s += rng.choice(types)
    return s


def percent(codes):
    s = "%"
    for flag in "-+ #0":
        if rng.random() < 0.2:
            s += flag
    if rng.random() < 0.5:
        s += str(rng.randrange(15))
    if rng.random() < 0.5:
        s += "." + str(rng.randrange(10))
    return s + rng.choice(codes)


def share(part):
    return range(max(1, int(ROWS * part)))


for _ in share(0.1):
    x = real()
    row("repr", [x.hex()], lambda: repr(x))
for _ in share(0.15):
    x, s = real(), spec("eEfFgGn%ds")
    row("float", [x.hex(), s], lambda: format(x, s))
for _ in share(0.15):
    n, s = integer(), spec("bcdoxXneEfFgG%s")
    row("int", [str(n), s], lambda: format(n, s))
for _ in share(0.08):
    t, s = text(), spec("sssd")
    row("str", [t, s], lambda: format(t, s))
for _ in share(0.04):
    a, b, s = real(), real(), spec("efgd")
    row("complex", [a.hex(), b.hex(), s], lambda: format(complex(a, b), s))
for _ in share(0.08):
    x, s = real(), percent("eEfFgG")
    row("%float", [x.hex(), s], lambda: s % x)
for _ in share(0.08):
    n, s = integer(), percent("dioxXu")
    row("%int", [str(n), s], lambda: s % n)
for _ in share(0.03):
    t, s = text(), percent("sc")
    row("%str", [t, s], lambda: s % t)
for _ in share(0.05):
    t = text(12)
    row("quote", [t], lambda: repr(t))
for _ in share(0.03):
    t = "".join(rng.choice(" +-0123456789abxXoB_e.infNA٣\n") for _ in range(rng.randrange(7)))
    base = rng.choice([0, 0, 2, 8, 10, 10, 16, 36, 37, 1])
    row("toint", [t, str(base)], lambda: str(int(t, base)))
    row("tofloat", [t], lambda: repr(float(t)))
METHODS = {
    "title": str.title, "capitalize": str.capitalize, "casefold": str.casefold, "swapcase": str.swapcase, "upper": str.upper,
    "lower": str.lower, "strip": str.strip, "lstrip": str.lstrip, "rstrip": str.rstrip,
}
TESTS = ["isidentifier", "isprintable", "isalpha", "isdigit", "isdecimal", "isnumeric", "isalnum", "isspace", "islower", "isupper", "istitle"]
for _ in share(0.06):
    t, name = text(), rng.choice(list(METHODS))
    row(name, [t], lambda: METHODS[name](t))
for _ in share(0.06):
    t, name = text(3), rng.choice(TESTS)
    row(name, [t], lambda: str(getattr(t, name)()))
for _ in share(0.06):
    t, name = text(14), rng.choice(["split", "rsplit"])
    sep, most = rng.choice([None, None, " ", ",", "a", ".;", ""]), rng.choice([-1, -1, 0, 1, 2])
    row(name, [t, "None" if sep is None else "=" + sep, str(most)], lambda: "|".join(getattr(t, name)(sep, most)))
for _ in share(0.03):
    t, keep = text(14), rng.random() < 0.5
    row("splitlines", [t, str(keep)], lambda: "|".join(t.splitlines(keep)))
for _ in share(0.03):
    t, width, name = text(5), rng.randrange(12), rng.choice(["center", "ljust", "rjust", "zfill", "expandtabs"])
    row(name, [t, str(width)], lambda: getattr(t, name)(width))
for _ in share(0.03):
    t, old, new, most = text(10), rng.choice(["", "a", "ab", " ", "é"]), rng.choice(["", "--", "é"]), rng.choice([-1, 0, 1, 3])
    row("replace", [t, old, new, str(most)], lambda: t.replace(old, new, most))
