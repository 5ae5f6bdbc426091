"""Addresses, options, codes, and modules that say little."""

def t(f):
    try:
        print(repr(f()))
    except BaseException as e:
        print(type(e).__name__, e)


from urllib.parse import *
u = "https://user:pw@Host.com:8080/a/b;p?x=1&y=2&x=3#frag"
p = urlparse(u)
t(lambda: (p, p.netloc, p.hostname, p.port, p.username, p.password, p.geturl(), urlsplit(u), p._replace(path="/z").geturl(), p.scheme, p[2]))
t(lambda: (urlparse("//a/b"), urlparse("a/b?c"), urlparse("file:///x/y"), urlparse("mailto:a@b.c"), urlparse("http://[::1]:80/x").hostname, urlparse(""), urlsplit("HTTP://a"), urlparse("C:/x")))
t(lambda: ([urljoin("http://a/b/c/d", x) for x in ("e", "/e", "../e", "./e", "?q", "#f", "http://z/y", "//h/x", "../../../e", "", ".", "..", "g/", "e;x")]))
t(lambda: (quote("a b/é?&=+~"), quote("a/b", safe=""), quote_plus("a b+c"), unquote("a%20b%C3%A9%zz%2"), unquote_plus("a+b%2B"), quote(b"\xff"), unquote_to_bytes("%ff"), quote("x", safe="x")))
t(lambda: (urlencode({"a": 1, "b": "x y", "c": [1, 2]}), urlencode({"c": [1, 2]}, doseq=True), urlencode([("a", "é")]), parse_qs("a=1&b=2&a=3&c="), parse_qs("a=&b", keep_blank_values=True), parse_qsl("a=1;b=2&c=%20+"), urlunparse(("http", "h", "p", "", "q", "f")), urlunsplit(("", "", "a", "", "")), urldefrag("http://a#b"), urlencode({"q": "a/b"}, quote_via=quote), urlencode({})))
t(lambda: (parse_qs("a", strict_parsing=True)))
t(lambda: (urlparse("http://a:xx/").port))
t(lambda: (urlparse("http://a:99999/").port))
t(lambda: (quote(5)))
t(lambda: (urlencode("abc")))
import html, hmac, hashlib, getopt, gettext, locale, linecache, json.decoder, urllib.request, os.path
from json.decoder import JSONDecodeError
from json import JSONDecodeError as J2
t(lambda: (JSONDecodeError is J2, hmac.new(b"k", b"m", hashlib.sha256).hexdigest()[:12], hmac.new(b"k" * 100, b"m", "md5").hexdigest(), hmac.compare_digest("a", "a"), html.escape("<a&'\">"), html.unescape("&lt;&#65;&amp;")))
t(lambda: (getopt.getopt(["-a", "-b", "x", "--long=5", "--fl", "rest"], "ab:", ["long=", "flag"]), getopt.gnu_getopt(["f", "-a", "g"], "a")))
t(lambda: (getopt.getopt(["-z"], "a")))
t(lambda: (getopt.getopt(["--zz"], "a", ["y"])))
t(lambda: (getopt.getopt(["-b"], "b:")))
t(lambda: (gettext.gettext("x"), gettext.ngettext("a", "b", 2), locale.setlocale(locale.LC_ALL, "C"), locale.format_string("%d", 5), linecache.getline("/nope", 1)))
import faulthandler, cProfile, pstats, resource, tracemalloc
pr = cProfile.Profile(); pr.enable(); x = sum(range(10)); pr.disable()
t(lambda: (pr.runcall(pow, 2, 3), tracemalloc.is_tracing()))
import copy, datetime, weakref, tempfile, os
t = datetime.datetime(2024, 1, 2, tzinfo=datetime.timezone.utc)
t(lambda: (copy.deepcopy({"t": t, "d": t.date(), "x": t - t, "tm": t.time()})))
fd, n = tempfile.mkstemp(suffix=".x")
with os.fdopen(fd, "w") as f: f.write("hey")
t(lambda: (open(n).read(), n.endswith(".x"), os.remove(n)))
class R:
    def __del__(self): pass
f = weakref.finalize(R(), print, "bye")
import configparser
from typing import Optional, Union, get_origin


def fails(text):
    try:
        configparser.ConfigParser().read_string(text)
    except configparser.Error as e:
        print(type(e).__name__, e)


fails("[a]\nx=1\nx=2")
fails("[a]\n[a]")
parser = configparser.ConfigParser()
parser.read_string("[DEFAULT]\nlr = 1\n[a]\nx = 2\n")
print(parser.options("a"), dict(parser["a"]), parser.items("a"))
print(get_origin(int | str), Union[int, str] == (int | str), (int | None) == Optional[int], (int | str) == Union[int, None])
print("abc" % [], repr(OSError(1, "x")))
try:
    import nowhere
except ImportError as e:
    print(e.msg, e.name)
