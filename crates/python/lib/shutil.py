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


def ignore_patterns(*patterns):
    from fnmatch import filter
    return lambda path, names: {name for pattern in patterns for name in filter(names, pattern)}


def copytree(src, dst, symlinks=False, ignore=None, copy_function=copy2, ignore_dangling_symlinks=False, dirs_exist_ok=False):
    names = os.listdir(src)
    left = ignore(os.fspath(src), names) if ignore else ()
    os.makedirs(dst, exist_ok=dirs_exist_ok)
    for name in names:
        a, b = os.path.join(src, name), os.path.join(dst, name)
        if name in left:
            continue
        if os.path.isdir(a):
            copytree(a, b, symlinks, ignore, copy_function, ignore_dangling_symlinks, dirs_exist_ok)
        else:
            copy_function(a, b)
    return dst


def make_archive(base_name, format, root_dir=None, base_dir=None, verbose=0, dry_run=0, owner=None, group=None, logger=None):
    if format != "zip":
        raise NotImplementedError(f"shutil.make_archive of {format!r}: archives are written as 'zip'")
    import zipfile
    base_name = os.fspath(base_name) + ".zip"
    root, start = root_dir or ".", base_dir or "."
    with zipfile.ZipFile(base_name, "w", zipfile.ZIP_DEFLATED) as archive:
        top = os.path.join(root, start)
        if os.path.normpath(start) != ".":
            archive.write(top, os.path.normpath(start))
        for folder, dirs, files in os.walk(top):
            for name in sorted(dirs) + files:
                full = os.path.join(folder, name)
                if os.path.abspath(full) != os.path.abspath(base_name):
                    archive.write(full, os.path.normpath(os.path.relpath(full, root)))
    return os.path.abspath(base_name)


def unpack_archive(filename, extract_dir=None, format=None, *, filter=None):
    import tarfile
    import zipfile
    name = os.fspath(filename)
    known = (format == "zip" if format else name.endswith(".zip"))
    if not known and not (format or name).endswith(("tar", "tgz", "tar.gz", "gztar")):
        raise ValueError(f"Unknown archive format '{filename}'")
    with (zipfile.ZipFile if known else tarfile.open)(filename) as archive:
        archive.extractall(extract_dir or ".")


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
