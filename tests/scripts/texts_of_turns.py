# What a training loop does with texts that are others in each turn.
import torch

names = "torch.abc torch.abd Tensor.ab torch.x torch.y Tensor.zzz torch.a b torch.bcd x.y".split()
w = torch.ones(2, requires_grad=True)


def turns(name, function):
    seen = []
    for step, s in enumerate(names):
        loss = (w * step).sum()
        loss.backward()
        seen.append(function(s))
    print(name, seen)


def taken(s):
    return s[6:] if s.startswith("torch.") else s[7:]


def unpacked(s):
    first, *rest = s
    return first + "".join(rest)[::-1]


def matched(s):
    match s.split("."):
        case ["torch", name]:
            return name
        case _:
            return None


def looked_up(s):
    table = {}
    table[s] = 1
    table.setdefault(s, 2)
    return table, s in table, table.get(s), {s}, s in {"b", "x.y"}


def tried(function):
    def run(s):
        try:
            return function(s)
        except Exception as e:
            return f"{type(e).__name__}: {e}"
    return run


for name, function in {
    "parts": taken,
    "first": lambda s: s[0],
    "last": lambda s: s[-1],
    "turned": lambda s: s[::-1],
    "unpacked": unpacked,
    "matched": matched,
    "looked up": looked_up,
    "contains": lambda s: ("torch" in s, "." in s),
    "each": lambda s: [c.upper() for c in s],
    "sorted": lambda s: "".join(sorted(set(s))),
    "length": len,
    "order": lambda s: (s < "torch.b", max(s), min(s, "torch.b")),
    "formats": lambda s: ("%s" % s, "{:>4}".format(s), f"{s!r:>3}", s * 2, s + "!", "-".join([s, s]), "%5s|%-3s" % (s, s)),
    "kinds": lambda s: (isinstance(s, str), type(s).__name__, callable(s), bool(s), repr(s), str(s), hash(s) == hash(str(s))),
    "methods": lambda s: (s.split("."), s.replace("t", "T"), s.find("c"), s.partition("."), s.encode(), s.count("b"), s.zfill(9), s.isalpha()),
    "as a key": lambda s: {"b": 1, "x.y": 2}.get(s, 0),
    "missing": tried(lambda s: {"b": 1}[s]),
    "number": tried(lambda s: int(s, 16)),
    "zipped": lambda s: list(zip(s, range(3))),
    "enumerated": lambda s: list(enumerate(s))[:2],
    "mapped": lambda s: list(map(ord, s))[:3],
    "reversed": lambda s: "".join(reversed(s)),
    "any": lambda s: (any(s), all(s), list(s), tuple(s)),
    "slices by names": lambda s: s[slice(1, None)],
    "index": lambda s: (s.index(s[-1]), "abc"[len(s) % 3]),
    "list item": lambda s: [s][0][:2],
    "call with it": lambda s: dict(**{s: 1}),
    "star": lambda s: (lambda *a: len(a))(*s),
}.items():
    turns(name, tried(function))
