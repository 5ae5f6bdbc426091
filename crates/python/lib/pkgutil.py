"""The modules and the files of packages in folders."""

import collections
import os
import sys

ModuleInfo = collections.namedtuple("ModuleInfo", "module_finder name ispkg")


def iter_modules(path=None, prefix=""):
    seen = set()
    for place in sys.path if path is None else path:
        for entry in sorted(os.listdir(place)) if os.path.isdir(place) else ():
            package = os.path.isfile(os.path.join(place, entry, "__init__.py"))
            name = entry if package else entry[:-3]
            if (package or entry.endswith(".py")) and name.isidentifier() and name != "__init__" and name not in seen:
                seen.add(name)
                yield ModuleInfo(None, prefix + name, package)


def walk_packages(path=None, prefix="", onerror=None):
    for info in iter_modules(path, prefix):
        yield info
        if info.ispkg:
            try:
                __import__(info.name)
            except ImportError:
                if onerror is not None:
                    onerror(info.name)
            except Exception:
                if onerror is None:
                    raise
                onerror(info.name)
            else:
                yield from walk_packages(getattr(sys.modules[info.name], "__path__", None) or [], info.name + ".", onerror)


def get_data(package, resource):
    """A file beside the package's, as bytes; None of a module without files."""
    __import__(package)
    beside = getattr(sys.modules[package], "__file__", None)
    if beside is None:
        return None
    with open(os.path.join(os.path.dirname(beside), *resource.split("/")), "rb") as file:
        return file.read()


def extend_path(path, name):
    """The folders of a package's name along `sys.path`."""
    found = list(path)
    for place in sys.path:
        inside = os.path.join(place, *name.split("."))
        if inside not in found and os.path.isdir(inside):
            found.append(inside)
    return found


def resolve_name(name):
    module, _, attribute = name.partition(":")
    if attribute or ":" in name:
        __import__(module)
        made, rest = sys.modules[module], attribute.split(".") if attribute else []
    else:
        parts = module.split(".")
        __import__(parts[0])
        made, rest, at = sys.modules[parts[0]], parts[1:], parts[0]
        while rest:
            try:
                __import__(f"{at}.{rest[0]}")
            except ImportError:
                break
            at = f"{at}.{rest.pop(0)}"
            made = sys.modules[at]
    for part in rest:
        made = getattr(made, part)
    return made
