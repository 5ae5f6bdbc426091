"""What few scripts ask of `sys`, found by its `__getattr__` and kept there, and of its streams."""

import sys


class _Fields(tuple):
    def __repr__(self):
        return f"sys.{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in zip(self._fields, self))})"


def _fields(name, /, **values):
    places = {field: property(lambda self, i=i: self[i]) for i, field in enumerate(values)}
    made = type(name, (_Fields,), {"__module__": "sys", "_fields": tuple(values), **places})
    return made(values.values())


def excepthook(kind, value, tb):
    import traceback
    traceback.print_exception(kind, value, tb)


def displayhook(value):
    if value is not None:
        import builtins
        print(repr(value))
        builtins._ = value


def unraisablehook(unraisable):
    excepthook(unraisable.exc_type, unraisable.exc_value, unraisable.exc_traceback)


def exception():
    return sys.exc_info()[1]


def _refused(name):
    def set_(function):
        if function is not None:
            raise NotImplementedError(f"sys.{name}() is not there: no function is called between lines here")
    return set_


def _ignored(*args):
    pass


def _made(digits):
    from types import SimpleNamespace

    def set_int_max_str_digits(maxdigits):
        if maxdigits and maxdigits < 640:
            raise ValueError("maxdigits must be 0 or larger than 640")
        digits(maxdigits)

    found = {
        "version_info": _fields("version_info", major=3, minor=12, micro=0, releaselevel="final", serial=0),
        "flags": _fields(
            "flags", debug=0, inspect=0, interactive=0, optimize=0, dont_write_bytecode=0, no_user_site=0, no_site=0, ignore_environment=0,
            verbose=0, bytes_warning=0, quiet=0, hash_randomization=1, isolated=0, dev_mode=False, utf8_mode=0, warn_default_encoding=0,
            safe_path=False, int_max_str_digits=4300,
        ),
        "float_info": _fields(
            "float_info", max=1.7976931348623157e308, max_exp=1024, max_10_exp=308, min=2.2250738585072014e-308, min_exp=-1021,
            min_10_exp=-307, dig=15, mant_dig=53, epsilon=2.220446049250313e-16, radix=2, rounds=1,
        ),
        "int_info": _fields("int_info", bits_per_digit=30, sizeof_digit=4, default_max_str_digits=4300, str_digits_check_threshold=640),
        "hash_info": _fields(
            "hash_info", width=64, modulus=2**61 - 1, inf=314159, nan=0, imag=1000003, algorithm="siphash13", hash_bits=64, seed_bits=128,
            cutoff=0,
        ),
        "thread_info": _fields("thread_info", name="pthread", lock=None, version=None),
        "exec_prefix": "", "base_prefix": "", "base_exec_prefix": "", "platlibdir": "lib", "abiflags": "", "copyright": "", "api_version": 1013,
        "orig_argv": list(sys.argv), "warnoptions": [], "_xoptions": {}, "meta_path": [], "path_hooks": [], "path_importer_cache": {},
        "dont_write_bytecode": False, "pycache_prefix": None,
        "getdefaultencoding": lambda: "utf-8", "getfilesystemencoding": lambda: "utf-8", "getfilesystemencodeerrors": lambda: "surrogateescape",
        "get_int_max_str_digits": lambda: digits(), "set_int_max_str_digits": set_int_max_str_digits,
        "getswitchinterval": lambda: 0.005, "setswitchinterval": _ignored, "is_finalizing": lambda: False,
        "audit": _ignored, "addaudithook": _ignored, "gettrace": lambda: None, "getprofile": lambda: None,
        "settrace": _refused("settrace"), "setprofile": _refused("setprofile"), "exception": exception,
        "displayhook": displayhook, "__displayhook__": displayhook, "__excepthook__": excepthook,
        "unraisablehook": unraisablehook, "__unraisablehook__": unraisablehook,
    }
    found["implementation"] = SimpleNamespace(name="aludel", version=found["version_info"], hexversion=sys.hexversion, cache_tag=None)
    return found


def find(name, digits):
    if name == "excepthook":
        # Only one that a script has put there is called for what nothing catches.
        return excepthook
    if "version_info" not in vars(sys):
        for known, value in _made(digits).items():
            if known not in vars(sys):
                setattr(sys, known, value)
    if name in vars(sys):
        return vars(sys)[name]
    raise AttributeError(f"module 'sys' has no attribute '{name}'", name=name, obj=sys)


class _Bytes:
    """The bytes below a stream of text."""

    def __init__(self, stream):
        self._stream = stream

    def write(self, data):
        data = bytes(data)
        self._stream.write(data.decode("utf-8", "replace"))
        return len(data)

    def read(self, size=-1):
        data = getattr(self, "_left", b"") + self._stream.read().encode()
        size = len(data) if size is None or size < 0 else size
        self._left = data[size:]
        return data[:size]

    def readline(self):
        return self._stream.readline().encode()

    def __iter__(self):
        return iter(self.readline, b"")

    def flush(self):
        self._stream.flush()

    def fileno(self):
        return self._stream.fileno()


def stream(of, name):
    if name == "buffer":
        of.buffer = _Bytes(of)
        return of.buffer
    found = {
        "reconfigure": lambda **options: None, "readlines": lambda hint=-1: list(of), "readable": lambda: of.mode == "r",
        "writable": lambda: of.mode == "w", "seekable": lambda: False, "errors": "strict", "newlines": None, "line_buffering": False,
    }
    if name in found:
        return found[name]
    raise AttributeError(f"'TextIOWrapper' object has no attribute '{name}'", name=name, obj=of)
