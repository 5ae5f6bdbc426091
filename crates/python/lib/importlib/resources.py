"""Files beside a package's modules."""

import pathlib
import sys


def files(anchor):
    if isinstance(anchor, str):
        __import__(anchor)
        anchor = sys.modules[anchor]
    inside = getattr(anchor, "__path__", None)
    if inside:
        return pathlib.Path(list(inside)[0])
    if getattr(anchor, "__file__", None) is None:
        raise FileNotFoundError(f"{anchor.__name__} is a module without files")
    return pathlib.Path(anchor.__file__).parent


class as_file:
    def __init__(self, path):
        self._path = path

    def __enter__(self):
        return self._path

    def __exit__(self, *exception):
        pass


def path(package, resource):
    return as_file(files(package) / resource)


def read_text(package, resource, encoding="utf-8"):
    return (files(package) / resource).read_text()


def read_binary(package, resource):
    return (files(package) / resource).read_bytes()


def open_text(package, resource):
    return (files(package) / resource).open()


def open_binary(package, resource):
    return (files(package) / resource).open("rb")


def is_resource(package, name):
    return (files(package) / name).is_file()


def contents(package):
    return [entry.name for entry in files(package).iterdir()]
