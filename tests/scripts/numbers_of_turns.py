# What a training loop does with numbers that are others in each turn.
import math
import torch

w = torch.ones(2, requires_grad=True)


def tried(function):
    def run(*s):
        try:
            return function(*s)
        except Exception as e:
            return f"{type(e).__name__}: {e}"
    return run


def turns(name, function, values):
    seen = []
    for step, s in enumerate(values):
        loss = (w * step).sum()
        loss.backward()
        seen.append(function(s))
    print(name, seen)


def match(n):
    match n:
        case 3:
            return "three"
        case int() | float():
            return "number"


def chained(n):
    a = b = n
    a += 1
    b **= 2
    return a, b, a if n > 4 else b, not n, n and 7, n or 8


def cls(n):
    class A:
        size = n
        def __getitem__(self, i):
            return i
        def __contains__(self, i):
            return i == 5
        def __len__(self):
            return n
        def __eq__(self, o):
            return o == 3
    return A()[n], n in A(), len(A()), A() == n, n == A(), A.size


ints = [3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5]
functions = {
    "range": lambda n: (list(range(n)), range(n)[-1], len(range(1, n)), n in range(4), 2 in range(n)),
    "lists": lambda n: ([0] * n, list("abcdefghijk")[n], "abcdefghijk"[:n], (1, 2, 3)[n % 3], "ab" * n, [1, 2, 3][-(n % 3)]),
    "bytes": lambda n: (bytes([n]), n in b"\x03\x01", b"abcdefghijkl"[n], n.to_bytes(2, "big"), bytes(n)),
    "text": lambda n: ("%d" % n, "%05.1f" % n, f"{n:>4}", f"{n!r}", str(n), repr(n), chr(n + 65), hex(n), bin(n), "{:x}".format(n), f"{1:{n}}"),
    "numbers": lambda n: (divmod(n, 3), pow(n, 2, 5), round(n / 3, 2), abs(-n), n.bit_length(), -n, +n, ~n, n << 2, n | 8, n ^ 1, n // 2, n % 3),
    "maths": lambda n: (math.sqrt(n), math.gcd(n, 6), math.factorial(n), math.floor(n / 2), math.comb(n, 1), math.isclose(n, 3), math.log(n)),
    "sets": lambda n: ({n: 1}[n], {n, 3}, n in {3, 4}, n in [1, 2], n in (9,), {1: "a"}.get(n), sorted([n, 2]), max(n, 2), min([n, 4]), sum([n, 1])),
    "kinds": lambda n: (isinstance(n, int), type(n).__name__, float(n), int(n), bool(n), complex(n), hash(n), n.real, n.numerator, callable(n)),
    "matched": match,
    "chained": chained,
    "classes": cls,
    "unpacked": lambda n: [*range(n)][:2] + [a for a, *b in [(n, 1, 2)]],
    "not iterable": lambda n: [x for x in n],
    "not a container": lambda n: 1 in n,
    "not subscriptable": lambda n: n[0],
    "not unpacked": lambda n: (lambda *a: a)(*n),
    "slices": lambda n: (list(range(12))[n:], list(range(12))[::n], list(range(12))[slice(0, n)], "abcdefghijkl"[-n:]),
    "tensors": lambda n: (torch.arange(12)[n].item(), torch.arange(12)[:n].tolist(), torch.zeros(n).shape, torch.full((2,), n).tolist(), (torch.arange(3) * n).tolist()),
    "comparison": lambda n: (1 < n < 5, n == 3, n != 3, n is None, n >= 4, n == 3.0, n == "3"),
    "zips": lambda n: (list(zip(range(n), "ab")), list(enumerate("ab", n)), list(map(lambda x: x + n, [1])), list(filter(lambda x: x > n, [4]))),
    "asserted": lambda n: n if n != 4 else (_ for _ in ()).throw(ValueError(n)),
    "join": lambda n: ",".join(str(i) for i in range(n)),
    "format spec": lambda n: ("{0:{1}}".format(n, n), "{!s}".format(n), "%s %r" % (n, n), "%x" % n, "%c" % (n + 65), "%*d" % (n, n)),
}
for name, function in functions.items():
    turns(name, tried(function), ints)
    if name in ("text", "numbers", "kinds", "sets", "comparison", "matched", "chained"):
        turns(name, tried(function), [n / 2 for n in ints])
lists = [[i, i + 1, str(i)] for i in ints]
pairs = [(i, i * 1.5) for i in ints]
dicts = [{"lr": i * 0.1, "name": f"n{i}", "sizes": (i, 2)} for i in ints]
turns("lists", tried(lambda p: (p[0], p[-1], p[1:], 3 in p, len(p), [*p], sum(p[:2]), p + [1], p * 2, p.index(p[1]), sorted(p[:2]), p == [3, 4, "3"])), lists)
turns("pairs", tried(lambda p: (p[0], *p, p[::-1], p < (3, 2), max(p), dict([p]), f"{p}", "%d %.1f" % p, hash(p) == hash(tuple(p)))), pairs)
turns("dicts", tried(lambda d: (d["lr"], d["name"][1:], d["sizes"][0], {**d}, list(d), d.get("x", d["lr"]), "lr" in d, "n" in d["name"], d["name"].startswith("n3"), [c for c in d["name"]], sorted(d.items(), key=str), dict(d, lr=1))), dicts)
