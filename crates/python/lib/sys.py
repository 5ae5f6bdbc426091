"""The machine and its streams."""
import _host
from _host import exc_info, modules, path, argv


class _Stream:
    encoding, errors, newlines, line_buffering, closed = "utf-8", "strict", None, True, False

    def __init__(self, number, name, mode):
        self._number, self.name, self.mode = number, name, mode

    def write(self, text):
        return _host.write(self._number, text)

    def writelines(self, lines):
        for line in lines:
            self.write(line)

    def flush(self):
        pass

    def fileno(self):
        return self._number

    def isatty(self):
        return False

    def writable(self):
        return self._number > 0

    def readable(self):
        return self._number == 0

    def readline(self, size=-1):
        return _host.read_line()

    def read(self, size=-1):
        return "".join(self)

    def readlines(self):
        return list(self)

    def __iter__(self):
        while line := _host.read_line():
            yield line

    def reconfigure(self, **options):
        pass

    def close(self):
        pass

    def __repr__(self):
        return f"<_io.TextIOWrapper name='{self.name}' mode='{self.mode}' encoding='utf-8'>"


stdin = __stdin__ = _Stream(0, "<stdin>", "r")
stdout = __stdout__ = _Stream(1, "<stdout>", "w")
stderr = __stderr__ = _Stream(2, "<stderr>", "w")


class _Fields(tuple):
    def __getattr__(self, name):
        if name in self._names:
            return self[self._names.index(name)]
        raise AttributeError(f"'sys.{self._title}' object has no attribute '{name}'")

    def __repr__(self):
        return f"sys.{self._title}({', '.join([f'{n}={v!r}' for n, v in zip(self._names, self)])})"


class _Version(_Fields):
    _title, _names = "version_info", ("major", "minor", "micro", "releaselevel", "serial")


class _Float(_Fields):
    _title = "float_info"
    _names = ("max", "max_exp", "max_10_exp", "min", "min_exp", "min_10_exp", "dig", "mant_dig", "epsilon", "radix", "rounds")


class _Flags(_Fields):
    _title, _names = "flags", ("debug", "inspect", "interactive", "optimize", "verbose")


version_info = _Version((3, 12, 0, "final", 0))
version = "3.12.0 (Aludel)"
float_info = _Float((1.7976931348623157e308, 1024, 308, 2.2250738585072014e-308, -1021, -307, 15, 53, 2.220446049250313e-16, 2, 1))
flags = _Flags((0, 0, 0, 0, 0))
hexversion = 0x030C00F0
maxsize = 9223372036854775807
maxunicode = 0x10FFFF
platform = "linux"
byteorder = "little"
executable = prefix = exec_prefix = base_prefix = ""
copyright = ""
dont_write_bytecode = True
warnoptions = []
meta_path = []
path_hooks = []
builtin_module_names = ()
ps1, ps2 = ">>> ", "... "


class implementation:
    name = "aludel"
    version = version_info


def exit(status=None):
    raise SystemExit(status)


def exception():
    return exc_info()[1]


def getrecursionlimit():
    return _host.recursion


def setrecursionlimit(limit):
    pass


def getsizeof(obj, default=0):
    return 56 + 8 * len(obj) if hasattr(obj, "__len__") else 28


def getrefcount(obj):
    return 2


def getdefaultencoding():
    return "utf-8"


def getfilesystemencoding():
    return "utf-8"


def intern(string):
    return string


def get_int_max_str_digits():
    return 4300


def settrace(function):
    pass


setprofile = settrace


def gettrace():
    return None


class _Code:
    pass


class _Frame:
    def __init__(self, frames):
        code = self.f_code = _Code()
        code.co_filename, self.f_lineno, code.co_name, self.f_globals = frames[0]
        self._outer = frames[1:]

    @property
    def f_back(self):
        return _Frame(self._outer) if self._outer else None


def _getframe(depth=0):
    frames = _host.frames()[1:]
    if depth >= len(frames):
        raise ValueError("call stack is not deep enough")
    return _Frame(frames[depth:])
