"""Temporary files and folders in the host's file system."""
import os
import random as _random

_rng = _random.Random()
tempdir = None


def gettempdir():
    for name in ("TMPDIR", "TEMP", "TMP"):
        if os.environ.get(name):
            return os.environ[name]
    return "/tmp"


def _candidate(suffix, prefix, dir):
    dir = gettempdir() if dir is None else os.fspath(dir)
    os.makedirs(dir, exist_ok=True)
    while True:
        name = "".join(_rng.choices("abcdefghijklmnopqrstuvwxyz0123456789_", k=8))
        path = os.path.abspath(os.path.join(dir, (prefix or "tmp") + name + (suffix or "")))
        if not os.path.exists(path):
            return path


def mkdtemp(suffix=None, prefix=None, dir=None):
    path = _candidate(suffix, prefix, dir)
    os.mkdir(path)
    return path


def mkstemp(suffix=None, prefix=None, dir=None, text=False):
    path = _candidate(suffix, prefix, dir)
    open(path, "w").close()
    return os._descriptor(path), path


def mktemp(suffix="", prefix="tmp", dir=None):
    return _candidate(suffix, prefix, dir)


class TemporaryDirectory:
    def __init__(self, suffix=None, prefix=None, dir=None, ignore_cleanup_errors=False, *, delete=True):
        self.name = mkdtemp(suffix, prefix, dir)
        self._delete = delete

    def __enter__(self):
        return self.name

    def __exit__(self, *info):
        if self._delete:
            self.cleanup()

    def cleanup(self):
        import shutil
        shutil.rmtree(self.name, ignore_errors=True)

    def __repr__(self):
        return f"<TemporaryDirectory {self.name!r}>"


class _TemporaryFile:
    def __init__(self, file, name, delete):
        self.file, self.name, self._delete = file, name, delete

    def __getattr__(self, name):
        return getattr(self.file, name)

    def __iter__(self):
        return iter(self.file)

    def __enter__(self):
        return self

    def __exit__(self, *info):
        self.close()

    def close(self):
        self.file.close()
        if self._delete and os.path.exists(self.name):
            os.remove(self.name)


def NamedTemporaryFile(mode="w+b", buffering=-1, encoding=None, newline=None, suffix=None, prefix=None, dir=None, delete=True, *, errors=None, delete_on_close=True):
    path = _candidate(suffix, prefix, dir)
    return _TemporaryFile(open(path, mode), path, delete)


def TemporaryFile(mode="w+b", *args, **kwargs):
    return NamedTemporaryFile(mode)
