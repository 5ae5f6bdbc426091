"""Copying and removing trees."""
import os


class Error(OSError):
    pass


class SameFileError(Error):
    pass


def copyfile(src, dst, *, follow_symlinks=True):
    with open(os.fspath(src), "rb") as f:
        data = f.read()
    with open(os.fspath(dst), "wb") as f:
        f.write(data)
    return dst


def copy(src, dst, *, follow_symlinks=True):
    if os.path.isdir(dst):
        dst = os.path.join(dst, os.path.basename(src))
    return copyfile(src, dst)


copy2 = copy


def copyfileobj(fsrc, fdst, length=0):
    fdst.write(fsrc.read())


def copytree(src, dst, dirs_exist_ok=False, **kwargs):
    os.makedirs(dst, exist_ok=dirs_exist_ok)
    for name in os.listdir(src):
        a, b = os.path.join(src, name), os.path.join(dst, name)
        if os.path.isdir(a):
            copytree(a, b, dirs_exist_ok)
        else:
            copyfile(a, b)
    return dst


def rmtree(path, ignore_errors=False, onerror=None, **kwargs):
    try:
        for name in os.listdir(path):
            full = os.path.join(path, name)
            if os.path.isdir(full):
                rmtree(full)
            else:
                os.remove(full)
        os.rmdir(path)
    except OSError:
        if not ignore_errors:
            raise


def move(src, dst):
    if os.path.isdir(dst):
        dst = os.path.join(dst, os.path.basename(os.fspath(src).rstrip("/")))
    os.rename(src, dst)
    return dst


def which(cmd, mode=None, path=None):
    return None


def disk_usage(path):
    from collections import namedtuple
    return namedtuple("usage", "total used free")(0, 0, 0)


def get_terminal_size(fallback=(80, 24)):
    return os.terminal_size((int(os.environ.get("COLUMNS") or fallback[0]), int(os.environ.get("LINES") or fallback[1])))
