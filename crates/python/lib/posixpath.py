"""Paths with slashes."""
import os as _os

sep = "/"
curdir, pardir, extsep, altsep, pathsep, devnull = ".", "..", ".", None, ":", "/dev/null"


def fspath(p):
    return _os.fspath(p)


def join(a, *p):
    for part in (a, *p):
        if not isinstance(part, (str, bytes)) and not hasattr(part, "__fspath__"):
            raise TypeError(f"join() argument must be str, bytes, or os.PathLike object, not {type(part).__name__!r}")
    path = fspath(a)
    for b in map(fspath, p):
        if b.startswith("/"):
            path = b
        elif not path or path.endswith("/"):
            path += b
        else:
            path += "/" + b
    return path


def split(p):
    p = fspath(p)
    i = p.rfind("/") + 1
    head, tail = p[:i], p[i:]
    if head and head != "/" * len(head):
        head = head.rstrip("/")
    return head, tail


def basename(p):
    p = fspath(p)
    return p[p.rfind("/") + 1:]


def dirname(p):
    return split(p)[0]


def splitext(p):
    p = fspath(p)
    slash, dot = p.rfind("/"), p.rfind(".")
    if dot > slash:
        at = slash + 1
        while at < dot:
            if p[at] != ".":
                return p[:dot], p[dot:]
            at += 1
    return p, ""


def splitdrive(p):
    p = fspath(p)
    return p[:0], p


def isabs(p):
    return fspath(p).startswith("/")


def normcase(s):
    return fspath(s)


def normpath(path):
    path = fspath(path)
    if not path:
        return "."
    start = 2 if path.startswith("//") and not path.startswith("///") else int(path.startswith("/"))
    parts = []
    for part in path.split("/"):
        if part in ("", "."):
            continue
        if part != ".." or not start and not parts or parts and parts[-1] == "..":
            parts.append(part)
        elif parts:
            parts.pop()
    return "/" * start + "/".join(parts) or "."


def abspath(path):
    path = fspath(path)
    return normpath(path if isabs(path) else join(_os.getcwd(), path))


realpath = abspath


def relpath(path, start=None):
    if not path:
        raise ValueError("no path specified")
    a = [x for x in abspath(start or ".").split("/") if x]
    b = [x for x in abspath(path).split("/") if x]
    n = 0
    while n < min(len(a), len(b)) and a[n] == b[n]:
        n += 1
    return join(*([".."] * (len(a) - n) + b[n:])) if a != b else "."


def commonprefix(m):
    if not m:
        return ""
    a, b = min(m), max(m)
    for i, c in enumerate(a):
        if c != b[i]:
            return a[:i]
    return a


def commonpath(paths):
    paths = [fspath(p) for p in paths]
    if not paths:
        raise ValueError("commonpath() arg is an empty sequence")
    absolute = {p.startswith("/") for p in paths}
    if len(absolute) > 1:
        raise ValueError("Can't mix absolute and relative paths")
    split = [[c for c in p.split("/") if c and c != "."] for p in paths]
    a, b = min(split), max(split)
    common = a
    for i, c in enumerate(a):
        if c != b[i]:
            common = a[:i]
            break
    return ("/" if absolute.pop() else "") + "/".join(common)


def expanduser(path):
    path = fspath(path)
    if path == "~" or path.startswith("~/"):
        home = _os.environ.get("HOME", "/")
        return (home.rstrip("/") + path[1:]) or "/"
    return path


def expandvars(path):
    out, i = [], 0
    path = fspath(path)
    while i < len(path):
        if path[i] == "$":
            j = i + 1
            if path[j:j + 1] == "{" and "}" in path[j:]:
                end = path.index("}", j)
                name, stop = path[j + 1:end], end + 1
            else:
                stop = j
                while stop < len(path) and (path[stop].isalnum() or path[stop] == "_"):
                    stop += 1
                name = path[j:stop]
            if name in _os.environ:
                out.append(_os.environ[name])
                i = stop
                continue
        out.append(path[i])
        i += 1
    return "".join(out)


def _known(path):
    try:
        return _os.stat(path)
    except (OSError, ValueError):
        return None


def exists(path):
    return _known(path) is not None


lexists = exists


def isdir(path):
    s = _known(path)
    return s is not None and s.st_mode & 0o170000 == 0o040000


def isfile(path):
    s = _known(path)
    return s is not None and s.st_mode & 0o170000 == 0o100000


def islink(path):
    return False


def ismount(path):
    return abspath(path) == "/"


def getsize(path):
    return _os.stat(path).st_size


def getmtime(path):
    return _os.stat(path).st_mtime


getatime = getctime = getmtime


def samefile(a, b):
    return abspath(a) == abspath(b)
