"""Sets of versions, requirements and where they hold; windows of signals."""

from packaging.markers import Marker
from packaging.requirements import InvalidRequirement, Requirement
from packaging.specifiers import Specifier, SpecifierSet
from packaging.utils import canonicalize_name, canonicalize_version
import scipy.signal

versions = ("1.0", "1.0.post1", "1.4.5", "1.5", "2.0rc1", "2.0", "2.1.3", "2.1+cu118", "2.0.dev0", "3.0")
for s in (">=2.0,<3", "==2.1.*", "~=1.4.2", "!=1.5", ">1.0", "<2.0", ">=2.0rc1", "==1.0", "", "===2.0"):
    print(repr(s), [v for v in versions if v in SpecifierSet(s)], list(SpecifierSet(s).filter(versions)))
for text in ("torch>=2.0", 'numpy[extra, b]<2,>=1.20; python_version < "3.9"', "a.b-c (>=1.0)", "x @ https://e.com/x.whl", 'y; extra == "all"'):
    r = Requirement(text)
    print(r, r.name, sorted(r.extras), r.specifier, r.url, r.marker and r.marker.evaluate())
print(Marker("python_version >= '3.8' and (os_name == 'nt' or sys_platform == 'linux')").evaluate(), Marker("'win' in sys_platform").evaluate(),
      Marker("extra not in 'a b' or python_version == '2.7'").evaluate({"extra": "c"}))
print(canonicalize_name("A_b.C--d"), canonicalize_version("1.0.0rc1"), canonicalize_version("2.10.0"), SpecifierSet(">=1") & "<2")
for bad in (">>1", "=>2"):
    try:
        Specifier(bad)
    except ValueError as e:
        print(type(e).__name__, e)
try:
    Requirement("!")
except InvalidRequirement as e:
    print(type(e).__name__)

windows = scipy.signal.windows
for name in "hamming hann blackman nuttall blackmanharris flattop boxcar bartlett triang parzen bohman cosine tukey exponential".split():
    for sym in (True, False):
        print(name, *("%.5f" % (v if abs(v) > 1e-9 else 0.0) for m in (1, 2, 7) for v in getattr(windows, name)(m, sym=sym)))
print(windows.gaussian(5, std=2.0).round(5), windows.kaiser(6, 8.0).round(5), windows.get_window(("tukey", 0.3), 8).round(5))
