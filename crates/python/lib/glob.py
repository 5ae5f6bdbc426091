"""Paths that match a pattern."""
import os
from fnmatch import fnmatchcase as _match


def has_magic(s):
    return any(c in s for c in "*?[")


def _hidden(name):
    return name.startswith(".")


def _names(folder, only_dirs):
    try:
        names = os.listdir(folder or ".")
    except OSError:
        return []
    return [n for n in names if os.path.isdir(os.path.join(folder, n))] if only_dirs else names


def _below(folder, only_dirs, include_hidden):
    for name in _names(folder, only_dirs):
        if include_hidden or not _hidden(name):
            yield name
            for rest in _below(os.path.join(folder, name), only_dirs, include_hidden):
                yield os.path.join(name, rest)


def _expand(root, pattern, recursive, only_dirs, include_hidden):
    head, tail = os.path.split(pattern)
    if not has_magic(pattern):
        if tail and os.path.lexists(os.path.join(root, pattern)) or not tail and os.path.isdir(os.path.join(root, head)):
            yield pattern
        return
    if head and head != pattern and has_magic(head):
        folders = _expand(root, head, recursive, True, include_hidden)
    else:
        folders = [head]
    for folder in folders:
        base = os.path.join(root, folder) if root else folder
        if recursive and tail == "**":
            if not folder or os.path.isdir(base):
                yield os.path.join(folder, "")
            for name in _below(base, only_dirs, include_hidden):
                yield os.path.join(folder, name)
        elif has_magic(tail):
            for name in _names(base, only_dirs):
                if (include_hidden or not _hidden(name) or _hidden(tail)) and _match(name, tail):
                    yield os.path.join(folder, name)
        elif os.path.lexists(os.path.join(base, tail)) or not tail and os.path.isdir(base):
            yield os.path.join(folder, tail)


def iglob(pathname, *, root_dir=None, dir_fd=None, recursive=False, include_hidden=False):
    found = _expand(os.fspath(root_dir) if root_dir else "", os.fspath(pathname), recursive, False, include_hidden)
    for name in found:
        if name:
            yield name


def glob(pathname, *, root_dir=None, dir_fd=None, recursive=False, include_hidden=False):
    return list(iglob(pathname, root_dir=root_dir, recursive=recursive, include_hidden=include_hidden))


def escape(pathname):
    return "".join([f"[{c}]" if c in "*?[" else c for c in pathname])
