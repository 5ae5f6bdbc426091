"""YAML read and written as PyYAML does."""
def t(f):
    try:
        print(repr(f()))
    except BaseException as e:
        print(type(e).__name__, e)


import yaml, io, datetime
cfg = """
# config
model:
  name: resnet18   # comment
  layers: [2, 2, 2, 2]
  opts: {lr: 0.1, wd: 1.0e-4, nesterov: yes}
train:
- epochs: 10
  steps:
  - 1
  - 2
- epochs: 20
lr: 1e-3
lr2: 1.e-3
lr3: 1.0e-3
neg: -5
hex: 0x1F
oct: 017
big: 1_000
date: 2024-01-02
ts: 2024-01-02 03:04:05.5
tz: 2024-01-02T03:04:05+02:00
n1: null
n2: ~
n3:
t: true
f: Off
s1: "a\\tb\\u00e9 \\x41"
s2: 'it''s'
inf: .inf
nan: .nan
ninf: -.inf
path: C:\\dir
url: http://x.y/z:8080
time: 12:30:45
ver: 1.2.3
plain: a b  c # not
multi: one
  two

  three
lit: |
  line1
    line2

  line3
fold: >
  a
  b

  c
   d
  e
strip: |-
  x
keep: |+
  y

empty: []
emptyd: {}
nested:
    a:
        b: 1
        c:
            - x
            -
              y: 2
            - - p
              - q
"q key": 1
base: &base
  a: 1
  b: 2
derived:
  <<: *base
  b: 3
ref: *base
flowm: {a: [1, {b: c}], "d": 'e',
  f: g}
"""
d = yaml.safe_load(cfg)
for k, v in d.items(): print(repr(k), repr(v))
t(lambda: (yaml.safe_load(""), yaml.safe_load("5"), yaml.safe_load("- a\n- b"), yaml.safe_load("a"), yaml.safe_load("[1, 2]"), yaml.safe_load("{a: 1}"), list(yaml.safe_load_all("a: 1\n---\nb: 2\n---\n- 3\n")), yaml.safe_load("--- x\n..."), yaml.safe_load(b"a: \xc3\xa9"), yaml.safe_load(io.StringIO("a: 1")), yaml.load("a: 1", Loader=yaml.FullLoader), yaml.load("a: 1", yaml.SafeLoader), yaml.full_load("x: [1]"), yaml.safe_load("!!str 5"), yaml.safe_load("a: !!int '5'"), yaml.safe_load("[a, b: c]"), yaml.safe_load("a: 'x\n  y'"), yaml.safe_load("{a, b}"), yaml.safe_load("1: a\n2.5: b\ntrue: c"), yaml.safe_load("a: b: c") if 0 else 1, yaml.safe_load("- [a, [b]]\n- {x: {y: z}}"), yaml.safe_load("'quoted'"), yaml.safe_load("a:\n  - b\n  -\n"), yaml.safe_load("k: -1.5"), yaml.safe_load("x: 'a # b'"), yaml.safe_load("x: a#b"), yaml.safe_load("- - 1\n  - 2\n- 3"), yaml.safe_load("!!set {a, b}") == {"a", "b"}, yaml.safe_load("a: |2\n   x\n  y\n")))
t(lambda: (yaml.safe_load("a: b: c")))
t(lambda: (yaml.safe_load("a: [1, 2")))
t(lambda: (yaml.safe_load("a: 'x")))
t(lambda: (yaml.safe_load("a: 1\n b: 2")))
t(lambda: (yaml.safe_load("a: *x")))
t(lambda: (yaml.safe_load("a: !foo 1")))
t(lambda: (yaml.safe_load("a: @x")))
t(lambda: (yaml.safe_load("a\nb: 1")))
t(lambda: (yaml.safe_load("a: 1\n- b")))
t(lambda: (yaml.safe_load("\ta: 1")))
t(lambda: (yaml.safe_load("{a: 1")))
t(lambda: (yaml.safe_load("a: 1\na: 2")))
t(lambda: (yaml.safe_load("x: - 1")))

import yaml, io, datetime, sys
from collections import OrderedDict
d = {"b": 1, "a": [1, 2.5, None, True, "x"], "nested": {"z": {"y": []}, "e": {}}, "s": "yes", "n": "5", "f": "1.0", "nul": "null", "e": "", "colon": "a: b", "hash": "a #b", "dash": "- x", "multi": "l1\nl2\n", "sp": " lead", "q": "it's", "dq": 'say "hi"', "uni": "é", "tab": "a\tb", "long": "word " * 30, "t": (1, 2) and [1, 2], 3: "int", "lr": 1e-5, "lr2": 0.001, "big": 1e20, "inf": float("inf"), "neg": -1, "date": datetime.date(2024, 1, 2), "dt": datetime.datetime(2024, 1, 2, 3, 4, 5), "star": "*x", "amp": "&x", "br": "[x]", "pct": "%x", "at": "@x", "tick": "`x", "ex": "!x", "pipe": "|", "gt": ">x", "comma": "a,b", "q?": "? x", "eq": "=", "merge": "<<", "tilde": "~", "dots": "...", "ddd": "---", "trail": "x ", "time": "12:30", "d2": "2024-01-01", "under": "1_000", "oct": "017", "hex": "0x1f", "path": "/a/b", "win": "C:\\x", "url": "http://a.b/c?d=e", "sci": "1e5", "sci2": "1.e+5", "k:": 1, "no": "no", "Y": "y", "N": "n", "list": [[1, [2]], {"a": 1, "b": [1]}, []]}
d2 = {str(k): v for k, v in d.items()}
print(yaml.safe_dump(d2))
print(yaml.dump(d2, default_flow_style=None, sort_keys=False))
print(yaml.dump(d2, default_flow_style=True, width=60))
print(yaml.dump(d2, allow_unicode=True, indent=4, explicit_start=True))
t(lambda: (yaml.dump(5), yaml.dump("x"), yaml.dump([1, "a"]), yaml.dump(None), yaml.dump({}), yaml.dump([]), yaml.dump([[]]), yaml.dump({"a": {"b": None}}), yaml.dump([{"a": 1, "b": 2}, {"c": [1]}]), yaml.dump((1, 2)), yaml.safe_dump((1, 2)), yaml.dump({1, 2}), yaml.dump(b"ab"), yaml.dump("multi\nline"), yaml.dump({"x": "a\n\nb\n"}), yaml.dump({"x": ""}), yaml.dump(""), yaml.dump(True), yaml.dump(1.5), yaml.dump("5"), yaml.dump({"a b": 1, "": 2}), yaml.dump([None, "null"]), yaml.dump(["é" * 50 + " x " * 20]), yaml.dump({"k" * 130: 1}), yaml.dump_all([1, {"a": 2}]), yaml.dump("a" * 200), yaml.dump({1: 2, 1.5: None, True: 3}, sort_keys=False), yaml.dump({"x": [{"y": [1, 2], "z": {"w": 1}}]}), yaml.dump("\x07 bell"), yaml.dump("😀"), yaml.dump("😀", allow_unicode=True), yaml.dump(["-", "- a", "a: ", ":", "a:b", "#", "a#", "?", "x?"]), yaml.dump({"a": "b"}, explicit_end=True), yaml.dump(["x\n", "\n", " \n ", "a\n b"])))
l = [1]; print(yaml.dump({"a": l, "b": l}), yaml.dump([{}, {}]))
s = io.StringIO(); yaml.safe_dump({"a": 1}, s); print(s.getvalue())
t(lambda: (yaml.safe_dump({"a": 1j})))
t(lambda: (yaml.safe_load(yaml.safe_dump(d2)) == d2))
cfg = {"model": {"type": "UNet", "channels": [64, 128, 256], "dropout": 0.1, "act": "relu", "norm": None}, "optim": {"lr": 0.0003, "betas": [0.9, 0.999], "eps": 1e-8}, "amp": True, "out": "./runs/exp_1"}
print(yaml.dump(cfg, sort_keys=False)); print(yaml.dump(cfg, default_flow_style=None)); yaml.dump(cfg, sys.stdout, indent=4)
class P:
    def __init__(self, x): self.x = x
yaml.add_representer(P, lambda dumper, data: dumper.represent_dict({"x": data.x}))
print(yaml.dump({"p": P(3)}))
yaml.add_constructor("!point", lambda loader, node: P(loader.construct_scalar(node)), Loader=yaml.SafeLoader)
print(yaml.safe_load("a: !point 5")["a"].x)

