"""Paths as objects."""
import os
from fnmatch import fnmatchcase as _match


class PurePath:
    def __new__(cls, *args):
        return object.__new__(PurePosixPath if cls is PurePath else cls)

    def __init__(self, *args):
        parts = []
        for a in args:
            path = os.fspath(a) if hasattr(type(a), "__fspath__") else a
            if not isinstance(path, str):
                raise TypeError(f"argument should be a str or an os.PathLike object where __fspath__ returns a str, not {type(path).__name__!r}")
            parts.append(path)
        text = os.path.join(*parts) if parts else ""
        root = "//" if text.startswith("//") and not text.startswith("///") else "/" if text.startswith("/") else ""
        self._root = root
        self._tail = [p for p in text.split("/") if p and p != "."]

    def _make(self, root, tail):
        new = object.__new__(type(self))
        new._root, new._tail = root, tail
        return new

    def with_segments(self, *args):
        return type(self)(*args)

    def __str__(self):
        return self._root + "/".join(self._tail) or "."

    def __bytes__(self):
        return os.fsencode(self)

    def is_reserved(self):
        return False

    def __fspath__(self):
        return str(self)

    def as_posix(self):
        return str(self)

    def as_uri(self):
        if not self._root:
            raise ValueError("relative path can't be expressed as a file URI")
        return "file://" + str(self)

    def __repr__(self):
        return f"{type(self).__name__}({str(self)!r})"

    def __truediv__(self, other):
        try:
            return type(self)(self, other)
        except TypeError:
            return NotImplemented

    def __rtruediv__(self, other):
        try:
            return type(self)(other, self)
        except TypeError:
            return NotImplemented

    def joinpath(self, *args):
        return type(self)(self, *args)

    def __eq__(self, other):
        return str(self) == str(other) if isinstance(other, PurePath) else NotImplemented

    def __hash__(self):
        return hash(str(self))

    def __lt__(self, other):
        return self.parts < other.parts if isinstance(other, PurePath) else NotImplemented

    def __le__(self, other):
        return self.parts <= other.parts if isinstance(other, PurePath) else NotImplemented

    def __gt__(self, other):
        return self.parts > other.parts if isinstance(other, PurePath) else NotImplemented

    def __ge__(self, other):
        return self.parts >= other.parts if isinstance(other, PurePath) else NotImplemented

    @property
    def parts(self):
        return tuple(([self._root] if self._root else []) + self._tail)

    @property
    def root(self):
        return self._root

    @property
    def drive(self):
        return ""

    @property
    def anchor(self):
        return self._root

    @property
    def name(self):
        return self._tail[-1] if self._tail else ""

    @property
    def suffix(self):
        name = self.name
        i = name.rfind(".")
        return name[i:] if 0 < i < len(name) - 1 else ""

    @property
    def suffixes(self):
        name = self.name
        if name.endswith("."):
            return []
        return ["." + s for s in name.lstrip(".").split(".")[1:]]

    @property
    def stem(self):
        name = self.name
        i = name.rfind(".")
        return name[:i] if 0 < i < len(name) - 1 else name

    @property
    def parent(self):
        return self._make(self._root, self._tail[:-1]) if self._tail else self

    @property
    def parents(self):
        return tuple([self._make(self._root, self._tail[:n]) for n in range(len(self._tail) - 1, -1, -1)])

    def is_absolute(self):
        return bool(self._root)

    def with_name(self, name):
        if not self.name:
            raise ValueError(f"{self!r} has an empty name")
        if not name or "/" in name or name == ".":
            raise ValueError(f"Invalid name {name!r}")
        return self._make(self._root, self._tail[:-1] + [name])

    def with_stem(self, stem):
        return self.with_name(stem + self.suffix)

    def with_suffix(self, suffix):
        if "/" in suffix or suffix and not suffix.startswith(".") or suffix == ".":
            raise ValueError(f"Invalid suffix {suffix!r}")
        if not self.name:
            raise ValueError(f"{self!r} has an empty name")
        return self.with_name(self.stem + suffix)

    def relative_to(self, other, *more, walk_up=False):
        other = type(self)(other, *more)
        n = len(other._tail)
        if self._root != other._root or self._tail[:n] != other._tail:
            raise ValueError(f"{str(self)!r} is not in the subpath of {str(other)!r}")
        return self._make("", self._tail[n:])

    def is_relative_to(self, other, *more):
        other = type(self)(other, *more)
        return self._root == other._root and self._tail[:len(other._tail)] == other._tail

    def match(self, pattern):
        want = type(self)(pattern)
        if want._root and (not self._root or len(want._tail) != len(self._tail)) or len(want._tail) > len(self._tail):
            return False
        return all(_match(a, b) for a, b in zip(self._tail[::-1], want._tail[::-1]))


class PurePosixPath(PurePath):
    pass


class Path(PurePath):
    def __new__(cls, *args):
        return object.__new__(PosixPath if cls is Path else cls)

    @classmethod
    def cwd(cls):
        return cls(os.getcwd())

    @classmethod
    def home(cls):
        return cls(os.path.expanduser("~"))

    def stat(self):
        return os.stat(self)

    def lstat(self):
        return os.lstat(self)

    def exists(self):
        return os.path.exists(self)

    def is_dir(self):
        return os.path.isdir(self)

    def is_file(self):
        return os.path.isfile(self)

    def is_symlink(self):
        return False

    def absolute(self):
        return self if self._root else type(self)(os.getcwd(), self)

    def resolve(self, strict=False):
        if strict:
            os.stat(self)
        return type(self)(os.path.abspath(self))

    def expanduser(self):
        return type(self)(os.path.expanduser(str(self)))

    def samefile(self, other):
        return os.path.samefile(self, other)

    def open(self, mode="r", buffering=-1, encoding=None, errors=None, newline=None):
        return open(str(self), mode, encoding=encoding)

    def read_text(self, encoding=None, errors=None):
        with open(str(self)) as f:
            return f.read()

    def write_text(self, data, encoding=None, errors=None, newline=None):
        if not isinstance(data, str):
            raise TypeError(f"data must be str, not {data.__class__.__name__}")
        with open(str(self), "w") as f:
            return f.write(data)

    def read_bytes(self):
        with open(str(self), "rb") as f:
            return f.read()

    def write_bytes(self, data):
        with open(str(self), "wb") as f:
            return f.write(data)

    def mkdir(self, mode=0o777, parents=False, exist_ok=False):
        try:
            os.mkdir(self)
        except FileNotFoundError:
            if not parents or self.parent == self:
                raise
            self.parent.mkdir(parents=True, exist_ok=True)
            self.mkdir(exist_ok=exist_ok)
        except OSError:
            if not exist_ok or not self.is_dir():
                raise

    def rmdir(self):
        os.rmdir(self)

    def unlink(self, missing_ok=False):
        try:
            os.unlink(self)
        except FileNotFoundError:
            if not missing_ok:
                raise

    def rename(self, target):
        os.rename(self, target)
        return type(self)(target)

    replace = rename

    def touch(self, mode=0o666, exist_ok=True):
        if self.exists():
            if not exist_ok:
                raise FileExistsError(17, "File exists", str(self))
            return
        self.write_bytes(b"")

    def iterdir(self):
        for name in os.listdir(self):
            yield self / name

    def glob(self, pattern):
        import glob
        if not pattern:
            raise ValueError(f"Unacceptable pattern: {pattern!r}")
        for name in glob.iglob(pattern, root_dir=str(self), recursive=True, include_hidden=True):
            if "**" in pattern.split("/")[-1] and not (self / name).is_dir():
                continue
            yield self / name

    def rglob(self, pattern):
        return self.glob("**/" + pattern)

    def walk(self, top_down=True, on_error=None, follow_symlinks=False):
        for folder, dirs, files in os.walk(str(self), top_down, on_error):
            yield type(self)(folder), dirs, files


class PosixPath(Path, PurePosixPath):
    pass
