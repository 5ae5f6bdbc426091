"""What installed packages say of themselves, in the folders `NAME-VERSION.dist-info` along `sys.path`; modules that are in no file say
their version themselves."""

import os
import re
import sys


class PackageNotFoundError(ModuleNotFoundError):
    def __init__(self, name):
        super().__init__(f"No package metadata was found for {name}")
        self.name = name

    def __str__(self):
        return f"No package metadata was found for {self.name}"


class _Headers:
    """The fields of a METADATA file; one may come many times."""

    def __init__(self, fields, body=""):
        self._fields, self._body = fields, body

    def get_all(self, name, failobj=None):
        return [v for k, v in self._fields if k.lower() == name.lower()] or failobj

    def get(self, name, failobj=None):
        return self.get_all(name, [failobj])[0]

    def get_payload(self):
        return self._body

    def keys(self):
        return [k for k, _ in self._fields]

    def items(self):
        return list(self._fields)

    def __getitem__(self, name):
        return self.get(name)

    def __contains__(self, name):
        return self.get_all(name) is not None

    def __iter__(self):
        return iter(self.keys())


class Distribution:
    def __init__(self, headers, folder=None):
        self.metadata, self._folder = headers, folder

    name = property(lambda self: self.metadata["Name"])
    version = property(lambda self: self.metadata["Version"])
    requires = property(lambda self: self.metadata.get_all("Requires-Dist"))
    entry_points = property(lambda self: EntryPoints())

    def read_text(self, filename):
        path = self._folder and os.path.join(self._folder, filename)
        if not path or not os.path.isfile(path):
            return None
        with open(path) as file:
            return file.read()


class EntryPoints(tuple):
    """None are known: nothing was installed here."""

    def select(self, **params):
        return self

    names = groups = property(lambda self: set())


def _plain(name):
    return re.sub(r"[-_.]+", "-", name).lower()


def _read(folder):
    with open(os.path.join(folder, "METADATA")) as file:
        head, _, body = file.read().partition("\n\n")
    fields = []
    for line in head.split("\n"):
        if line[:1].isspace() and fields:
            fields[-1] = (fields[-1][0], fields[-1][1] + "\n" + line)
        elif ":" in line:
            key, _, value = line.partition(":")
            fields.append((key, value.strip()))
    return Distribution(_Headers(fields, body), folder)


def distributions():
    for place in sys.path:
        for entry in os.listdir(place or ".") if os.path.isdir(place or ".") else ():
            if entry.endswith(".dist-info") and os.path.isfile(os.path.join(place, entry, "METADATA")):
                yield _read(os.path.join(place, entry))


def distribution(distribution_name):
    wanted = _plain(distribution_name)
    for place in sys.path:
        for entry in os.listdir(place or ".") if os.path.isdir(place or ".") else ():
            if entry.endswith(".dist-info") and _plain(entry.split("-")[0]) == wanted:
                return _read(os.path.join(place, entry))
    try:
        __import__(distribution_name)
        version = sys.modules[distribution_name].__version__
    except (ImportError, AttributeError):
        raise PackageNotFoundError(distribution_name) from None
    return Distribution(_Headers([("Name", distribution_name), ("Version", version)]))


def version(distribution_name):
    return distribution(distribution_name).version


def metadata(distribution_name):
    return distribution(distribution_name).metadata


def requires(distribution_name):
    return distribution(distribution_name).requires


def entry_points(**params):
    return EntryPoints()


def packages_distributions():
    found = {}
    for each in distributions():
        names = (each.read_text("top_level.txt") or each.name.replace("-", "_")).split()
        for name in names:
            found.setdefault(name, []).append(each.name)
    return found
