import contextlib, io, sys, os, logging, warnings, datetime, time, math, random, argparse, inspect, typing, abc, pathlib, tempfile
@contextlib.contextmanager
def tag(n):
    print("<", n)
    try: yield n
    except ValueError as e: print("caught", e)
    finally: print(">", n)
with tag("a") as t, tag("b"): raise ValueError("v")
with contextlib.suppress(KeyError): {}[1]
with contextlib.ExitStack() as st:
    st.enter_context(tag("s")); st.callback(print, "cb", 1)
buf = io.StringIO()
with contextlib.redirect_stdout(buf): print("hidden")
print(repr(buf.getvalue()))
with contextlib.nullcontext(5) as n: print(n)
class Cl:
    def close(self): print("closed")
with contextlib.closing(Cl()): pass
logging.basicConfig(format="%(levelname)s:%(name)s:%(message)s", level=logging.INFO, stream=sys.stdout)
log = logging.getLogger("x.y"); log.info("hi %s %d", "a", 3); log.debug("no"); log.warning("w")
try: 1 / 0
except ZeroDivisionError: log.exception("bad")
h = logging.StreamHandler(sys.stdout); h.setFormatter(logging.Formatter("[%(levelname)-8s] %(message)s")); l2 = logging.getLogger("z"); l2.addHandler(h); l2.propagate = False; l2.error("E"); print(l2.level, l2.getEffectiveLevel(), logging.getLevelName(30))
with warnings.catch_warnings(record=True) as w:
    warnings.simplefilter("always"); warnings.warn("careful", DeprecationWarning); print(len(w), w[0].message, w[0].category.__name__)
d = datetime.datetime(2024, 2, 28, 23, 59, 30); print(d + datetime.timedelta(days=1, seconds=45), d.isoformat(), d.strftime("%Y/%m/%d %H:%M:%S %j %a %B %p"), d.weekday(), d.date(), d.replace(hour=1).time())
print(datetime.timedelta(hours=30, milliseconds=5), datetime.timedelta(days=-1, seconds=5), datetime.timedelta(1) / 2, (datetime.date(2024, 3, 1) - datetime.date(2023, 3, 1)).days, datetime.datetime.strptime("2020-01-02 03:04", "%Y-%m-%d %H:%M"), datetime.datetime.fromisoformat("2024-05-06T07:08:09.5"))
print(datetime.date(2024, 12, 30).isocalendar(), datetime.datetime(2024, 1, 1, tzinfo=datetime.timezone.utc).isoformat(), datetime.timedelta(seconds=3661).total_seconds())
print(math.isclose(0.1 + 0.2, 0.3), math.comb(10, 3), math.perm(5, 2), math.prod([1, 2, 3]), math.hypot(3, 4), math.dist((0, 0), (1, 1)), math.frexp(10.0), math.modf(-3.25), math.copysign(1, -0.0), math.fsum([0.1] * 10), math.ulp(1.0), math.nextafter(1, 2), math.lgamma(5), math.trunc(-2.7), math.remainder(7, 4))
random.seed(42); print(random.random(), random.randint(1, 100), random.choice("abc"), random.sample(range(50), 4), random.gauss(0, 1), random.uniform(1, 2), random.choices([1, 2, 3], weights=[1, 2, 3], k=4), random.betavariate(1, 2), random.expovariate(1.5), random.triangular(0, 1, 0.5))
r = random.Random("seed"); x = list(range(6)); r.shuffle(x); print(x, r.getrandbits(40), r.randrange(0, 100, 7), r.normalvariate(), r.paretovariate(3))
p = argparse.ArgumentParser(prog="t", description="desc"); p.add_argument("f", nargs="+", type=int, help="files"); p.add_argument("--lr", type=float, default=0.1, metavar="LR", help="rate (default: %(default)s)"); p.add_argument("-v", "--verbose", action="count", default=0); p.add_argument("--mode", choices=["a", "b"]); p.add_argument("--no-x", dest="x", action="store_false")
print(p.parse_args(["1", "2", "--lr", "3e-4", "-vv", "--mode=b", "--no-x"])); p.print_help(); print(p.parse_known_args(["3", "--zz"])); 
def fn(a, /, b: int, *args, c=3, d: "str" = "x", **kw) -> float: "doc"
s = inspect.signature(fn); print(s, list(s.parameters), s.parameters["b"].annotation, s.parameters["args"].kind, s.return_annotation, s.bind(1, 2, 3, c=4).arguments, inspect.getdoc(fn), inspect.isfunction(fn))
class Sh(abc.ABC):
    @abc.abstractmethod
    def area(self): ...
    @property
    @abc.abstractmethod
    def n(self): ...
try: Sh()
except TypeError as e: print(e)
T = typing.TypeVar("T"); print(typing.Optional[int], typing.Union[int, str], typing.Dict[str, typing.List[int]], typing.Callable[[int], str], list[int] | None, typing.get_type_hints(fn), typing.Literal["a", 1], typing.Tuple[int, ...], typing.Any)
class NT(typing.NamedTuple): a: int; b: str = "z"
print(NT(1), NT(1)._asdict())
with tempfile.TemporaryDirectory() as td:
    q = pathlib.Path(td) / "sub" / "f.txt"; q.parent.mkdir(parents=True); q.write_text("l1\nl2\n"); print(q.name, q.stem, q.suffix, q.exists(), q.read_text().split(), [x.name for x in q.parent.iterdir()], q.with_suffix(".md").name, sorted(x.name for x in pathlib.Path(td).rglob("*")), os.path.basename(str(q)))
    with open(q, "a") as f: print(f.write("l3"), f.mode, f.closed)
    with open(q) as f: print(f.readline(), [l.strip() for l in f])
    with open(q, "rb") as f: f.seek(2); print(f.read(3), f.tell())
    os.rename(q, q.with_name("g.txt")); print(os.listdir(q.parent), os.path.splitext("a.tar.gz"), os.path.join("a", "/b", "c"), os.path.relpath("/a/b", "/a/c"), os.path.getsize(q.with_name("g.txt")))
print(pathlib.PurePath("a/b/../c.txt").parts, pathlib.Path("/x/y").relative_to("/x"), pathlib.Path("a") / "b" == pathlib.Path("a/b"))
