"""Importing by name."""
import sys


def import_module(name, package=None):
    if name.startswith("."):
        if not package:
            raise TypeError(f"the 'package' argument is required to perform a relative import for {name!r}")
        dots = len(name) - len(name.lstrip("."))
        base = package.rsplit(".", dots - 1)[0] if dots > 1 else package
        name = f"{base}.{name[dots:]}" if name[dots:] else base
    __import__(name)
    return sys.modules[name]


def reload(module):
    return module


def __getattr__(name):
    # CPython has imported these before a script's first line, or `import torch` has.
    if name in ("metadata", "resources", "util"):
        return import_module("importlib." + name)
    raise AttributeError(f"module 'importlib' has no attribute '{name}'")
