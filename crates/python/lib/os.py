"""The host's files and environment."""
import sys as _sys
import _files as _host
from _open import _save_all

name = "posix"
sep, altsep, extsep, pathsep, linesep, devnull, curdir, pardir = "/", None, ".", ":", "\n", "/dev/null", ".", ".."
F_OK, R_OK, W_OK, X_OK = 0, 4, 2, 1
O_RDONLY, O_WRONLY, O_RDWR, O_CREAT, O_EXCL, O_TRUNC, O_APPEND = 0, 1, 2, 64, 128, 512, 1024
error = OSError


class PathLike:
    def __fspath__(self):
        raise NotImplementedError

    @classmethod
    def __subclasshook__(cls, C):
        return hasattr(C, "__fspath__")

    def __class_getitem__(cls, item):
        return cls


def fspath(path):
    if isinstance(path, (str, bytes)):
        return path
    f = getattr(type(path), "__fspath__", None)
    if f is None:
        raise TypeError(f"expected str, bytes or os.PathLike object, not {type(path).__name__}")
    return f(path)


def fsdecode(path):
    path = fspath(path)
    return path.decode() if isinstance(path, bytes) else path


def fsencode(path):
    path = fspath(path)
    return path.encode() if isinstance(path, str) else path


class _Environ(dict):
    def __setitem__(self, key, value):
        for x in (key, value):
            if not isinstance(x, str):
                raise TypeError(f"str expected, not {type(x).__name__}")
        dict.__setitem__(self, key, value)

    def setdefault(self, key, default=None):
        if key not in self:
            self[key] = default
        return self[key]

    def copy(self):
        return dict(self)

    def __repr__(self):
        return f"environ({dict.__repr__(self)})"


environ = _Environ(_host.environment())


def getenv(key, default=None):
    return environ.get(key, default)


def putenv(key, value):
    environ[key] = value


def unsetenv(key):
    environ.pop(key, None)


def getcwd():
    return _host.current_dir()


class stat_result(tuple):
    st_mode = property(lambda self: self[0])
    st_size = property(lambda self: self[6])
    st_atime = st_mtime = st_ctime = property(lambda self: self[7])
    st_ino = st_dev = st_uid = st_gid = property(lambda self: 0)


def stat(path, *, follow_symlinks=True):
    path = fsdecode(path)
    _save_all()
    found = _host.metadata(path) if path else None
    if found is None:
        raise FileNotFoundError(2, "No such file or directory", path)
    directory, size, modified = found
    return stat_result((0o040755 if directory else 0o100644, 0, 0, 1, 0, 0, size, modified, modified, modified))


lstat = stat


class DirEntry:
    def __init__(self, folder, name):
        self.name = name
        self.path = name if folder == "." and False else path.join(folder, name)

    def is_dir(self, *, follow_symlinks=True):
        return path.isdir(self.path)

    def is_file(self, *, follow_symlinks=True):
        return path.isfile(self.path)

    def is_symlink(self):
        return False

    def stat(self, *, follow_symlinks=True):
        return stat(self.path)

    def __fspath__(self):
        return self.path

    def __repr__(self):
        return f"<DirEntry {self.name!r}>"


class scandir:
    def __init__(self, folder="."):
        self._entries = iter([DirEntry(fspath(folder), n) for n in listdir(folder)])

    def __iter__(self):
        return self._entries

    def __next__(self):
        return next(self._entries)

    def __enter__(self):
        return self

    def __exit__(self, *info):
        pass

    def close(self):
        pass


def listdir(path="."):
    return _host.list(fsdecode(path))


def mkdir(path, mode=0o777):
    _host.make_dir(fsdecode(path))


def makedirs(name, mode=0o777, exist_ok=False):
    name = fsdecode(name)
    head, tail = path.split(name)
    if not tail:
        head, tail = path.split(head)
    if head and tail and not path.exists(head):
        try:
            makedirs(head, exist_ok=exist_ok)
        except FileExistsError:
            pass
        if tail == ".":
            return
    try:
        mkdir(name)
    except OSError:
        if not exist_ok or not path.isdir(name):
            raise


# Files that a number stands for: those of tempfile.mkstemp.
_descriptors = {}


def _descriptor(path):
    fd = 3
    while fd in _descriptors:
        fd += 1
    _descriptors[fd] = path
    return fd


def fdopen(fd, mode="r", *args, **kwargs):
    return open(_descriptors.pop(fd), mode, *args, **kwargs)


def close(fd):
    if fd not in _descriptors:
        raise OSError(9, "Bad file descriptor")
    del _descriptors[fd]


def write(fd, data):
    with open(_descriptors[fd], "ab") as file:
        return file.write(data)


def remove(path):
    target = fsdecode(path)
    if stat(target)[0] == 0o040755:
        raise IsADirectoryError(21, "Is a directory", target)
    _host.remove(target)


unlink = remove


def rmdir(path):
    target = fsdecode(path)
    if stat(target)[0] != 0o040755:
        raise NotADirectoryError(20, "Not a directory", target)
    _host.remove(target)


def removedirs(name):
    rmdir(name)
    head = path.dirname(name)
    while head:
        try:
            rmdir(head)
        except OSError:
            break
        head = path.dirname(head)


def rename(src, dst):
    _save_all()
    try:
        _host.rename(fsdecode(src), fsdecode(dst))
    except OSError as e:
        raise type(e)(e.errno, e.strerror, src, None, dst) from None


replace = rename


def renames(old, new):
    makedirs(path.dirname(new) or ".", exist_ok=True)
    rename(old, new)


def walk(top, topdown=True, onerror=None, followlinks=False):
    top = fspath(top)
    try:
        names = listdir(top)
    except OSError as e:
        if onerror is not None:
            onerror(e)
        return
    dirs = [n for n in names if path.isdir(path.join(top, n))]
    files = [n for n in names if n not in dirs]
    if topdown:
        yield top, dirs, files
    for d in dirs:
        yield from walk(path.join(top, d), topdown, onerror)
    if not topdown:
        yield top, dirs, files


def access(path, mode):
    try:
        stat(path)
    except OSError:
        return False
    return True


def getpid():
    return 1


def getppid():
    return 0


def getuid():
    return 0


def getlogin():
    return environ.get("USER", "user")


def cpu_count():
    return 1


def urandom(n):
    data = b""
    while len(data) < n:
        data += _host.entropy().to_bytes(8, "little")
    return data[:n]


def strerror(code):
    return {1: "Operation not permitted", 2: "No such file or directory", 13: "Permission denied", 17: "File exists", 20: "Not a directory", 21: "Is a directory", 22: "Invalid argument", 39: "Directory not empty"}.get(code, f"Unknown error {code}")


def get_terminal_size(fd=0):
    return terminal_size((int(environ.get("COLUMNS") or 80), int(environ.get("LINES") or 24)))


class terminal_size(tuple):
    columns = property(lambda self: self[0])
    lines = property(lambda self: self[1])

    def __repr__(self):
        return f"os.terminal_size(columns={self[0]}, lines={self[1]})"


def _exit(status):
    raise SystemExit(status)


def system(command):
    raise NotImplementedError("os.system: there are no other programs here")


def uname():
    from platform import uname
    return uname()


import posixpath as path
_sys.modules["os.path"] = path
