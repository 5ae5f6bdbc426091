import configparser
import sys
c = configparser.ConfigParser(allow_no_value=True)
c.read_string("""
  [mysqld]
    user = mysql
    pid-file = /var/run
    # we don't need ACID today
    skip-innodb

    multi = a
      b

      c
    # comment in the middle
      d
  [You]
  x: %(y)s/%%
  y = 3
""")
print({s: dict(c[s]) for s in c}, c["You"].getint("y"), c["You"].getfloat("z", 2.5), c["You"].get("q"))
e = configparser.ConfigParser(interpolation=configparser.ExtendedInterpolation())
e.read_string("[Common]\nhome=/Users\n[A]\nname=${Common:home}/me $$5\ndir = ${name}/x\n")
print(dict(e["A"]))
class My(configparser.ConfigParser):
    BOOLEAN_STATES = {"sure": True, "nope": False}
    optionxform = str
m = My(converters={"list": lambda t: t.split(",")}, delimiters=("=",), inline_comment_prefixes=(";",))
m.read_string("[s]\nFunky = nope ; well\nL = a,b\n")
print(m["s"].getboolean("funky", True), m["s"].getboolean("Funky"), m.getlist("s", "L"), m["s"].getlist("L"), m.getlist("s", "no", fallback=None))
for text in ("x=1\n", "[a]\nnothing\nmore\n", "[a]\nx=1\nx=2\n", "[a]\n[a]\n"):
    try:
        configparser.ConfigParser().read_string(text)
    except configparser.Error as x:
        print(type(x).__name__, x)
for call in (lambda: c.set("You", "a", 3), lambda: c.set("You", "a", "%d"), lambda: c.get("none", "x"), lambda: c.get("You", "none"), lambda: c["none"],
             lambda: c.add_section("DEFAULT"), lambda: c.read_dict({"A": {"x": 1, "X": 2}})):
    try:
        print(call())
    except Exception as x:
        print(type(x).__name__, x)
c.read_string("[B]\nloop=%(loop)s\nmiss=%(nope)s\nbad=50% a\n")
for k in ("loop", "miss", "bad"):
    try:
        print(c.get("B", k))
    except configparser.Error as x:
        print(type(x).__name__, x)
d = configparser.ConfigParser(defaults={"lr": 0.1})
d["train"] = {"epochs": "3", "name": "run\nof two"}
d["DEFAULT"]["seed"] = "1"
d.write(sys.stdout)
print(d.sections(), d.defaults(), "train" in d, d.has_option("train", "seed"), d.items("train"), len(d), d.remove_option("train", "name"))
