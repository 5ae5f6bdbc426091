"""Versions of packages: those that have one say it themselves."""

import sys


class PackageNotFoundError(ModuleNotFoundError):
    def __init__(self, name):
        super().__init__(f"No package metadata was found for {name}")


def version(name):
    try:
        __import__(name)
        return sys.modules[name].__version__
    except (ImportError, AttributeError):
        raise PackageNotFoundError(name) from None
