import json, re, string, textwrap, pprint, statistics, copy, dataclasses, enum
from dataclasses import dataclass, field
print(json.dumps({"a": [1, 2.5, None, True, "é\n"], "b": {"c": []}}, indent=2, sort_keys=True, ensure_ascii=False))
print(json.dumps([1, (2, 3)], separators=(",", ":")), json.loads('{"x": [1e3, -2, "\\u00e9", null]}'), json.dumps(float("inf")))
try: json.loads('{"a": }')
except json.JSONDecodeError as e: print(e, e.pos, e.lineno, e.colno)
try: json.dumps({1, 2})
except TypeError as e: print(e)
class E(json.JSONEncoder):
    def default(self, o): return sorted(o) if isinstance(o, set) else super().default(o)
print(json.dumps({"s": {3, 1}}, cls=E), json.dumps({1: 2, None: 3, True: 4}))
print(re.findall(r"(\w)(\d+)", "a12 b3 c"), re.sub(r"(?P<n>\d+)", lambda m: str(int(m["n"]) * 2), "a1b22"), re.split(r"[,;]\s*", "a, b;c", maxsplit=1))
m = re.search(r"(?P<y>\d{4})-(?P<m>\d\d)", "on 2024-03-05"); print(m.group(), m.groups(), m.groupdict(), m.span("m"), m.start(), m)
print(re.fullmatch(r"a|ab", "ab"), re.compile(r"x(?=y)", re.I), re.escape("a.b*c"), re.sub(r"\b(\w)", r"<\1>", "hi yo", count=1), re.subn("a", "b", "aaa"))
for x in re.finditer(r"a(b)?", "ab a"): print(x.group(0), x.group(1), x.lastindex)
try: re.compile("(")
except re.error as e: print(e)
print(string.Template("$a ${b} $$").substitute(a=1, b=2), string.capwords("hello world"), string.ascii_letters[:5], string.punctuation)
print(textwrap.fill("the quick brown fox jumps over the lazy dog", 20, initial_indent="* ", subsequent_indent="  "), textwrap.dedent("  a\n    b\n"), textwrap.shorten("hello big world", 12), textwrap.indent("a\nb", "> "))
pprint.pprint({"k%d" % i: list(range(i * 3)) for i in range(6)}, width=40)
pprint.pprint([1, "a" * 50, {"x": (1,), "y": {1, 2}}], width=30, compact=True)
print(statistics.mean([1, 2, 3.5]), statistics.median([1, 3, 2, 4]), statistics.stdev([1, 2, 3, 4]), statistics.pvariance([1, 2, 3]), statistics.mode("aab"), statistics.quantiles([1, 2, 3, 4, 5]), statistics.fmean([1, 2]))
@dataclass(order=True, frozen=True)
class D:
    x: int
    y: list = field(default_factory=list, compare=False, repr=False)
    z: str = field(default="q", kw_only=True)
    def __post_init__(self): object.__setattr__(self, "w", self.x * 2)
a = D(1, [2], z="r"); print(a, a.w, a == D(1, z="r"), a < D(2), dataclasses.asdict(a), dataclasses.replace(a, x=5), [f.name for f in dataclasses.fields(a)])
try: a.x = 3
except dataclasses.FrozenInstanceError as e: print(type(e).__name__, e)
@dataclass(slots=True)
class S: a: int = 0
try: S().b = 1
except AttributeError as e: print(e)
class Col(enum.Enum):
    RED = 1; GREEN = enum.auto(); CRIMSON = 1
print(Col.RED, Col(2), Col["RED"], Col.CRIMSON is Col.RED, list(Col), Col.RED.name, Col.__members__, repr(Col.GREEN), Col.RED in Col)
class Fl(enum.Flag): A = 1; B = 2; C = 4
print(Fl.A | Fl.C, (Fl.A | Fl.B) & Fl.B, ~Fl.A, Fl(3), bool(Fl(0)), list(Fl.A | Fl.B))
class I(enum.IntEnum): X = 3
print(I.X + 1, I.X == 3, f"{I.X}", repr(I.X), sorted([I.X, 1]))
class St(enum.StrEnum): FOO = enum.auto()
print(St.FOO, St.FOO == "foo", St("foo"))
try: Col(9)
except ValueError as e: print(e)
x = [1, [2]]; y = copy.copy(x); z = copy.deepcopy(x); y[1].append(3); print(x, y, z)
