"""Versions, and their order (PEP 440, without epochs)."""

import re


class InvalidVersion(ValueError):
    pass


class Version:
    def __init__(self, version):
        found = re.match(r"^v?(\d+(?:\.\d+)*)(?:[-_.]?(a|b|rc|alpha|beta|c|pre)[-_.]?(\d*))?(?:\.?(post|dev)(\d*))?(?:\+(.*))?$", version.strip())
        if not found:
            raise InvalidVersion(f"Invalid version: {version!r}")
        numbers, pre, pre_number, other, other_number, self.local = found.groups()
        self.release, self._text = tuple([int(n) for n in numbers.split(".")]), version
        letter = {None: "z", "alpha": "a", "beta": "b", "c": "rc", "pre": "rc"}.get(pre, pre)
        rank = {None: 1, "post": 2, "dev": 0}[other]
        trimmed = list(self.release)
        while trimmed and trimmed[-1] == 0:
            trimmed.pop()
        letter = "" if other == "dev" and pre is None else letter
        self._key = (tuple(trimmed), letter, int(pre_number or 0), rank, int(other_number or 0))
        self.is_prerelease = pre is not None or other == "dev"

    major = property(lambda self: self.release[0])
    minor = property(lambda self: (self.release + (0,))[1])
    micro = property(lambda self: (self.release + (0, 0))[2])
    base_version = property(lambda self: ".".join([str(n) for n in self.release]))

    def __str__(self):
        return self._text

    def __repr__(self):
        return f"<Version('{self._text}')>"

    def __hash__(self):
        return hash(self._key)

    def __eq__(self, other):
        return self._key == other._key

    def __lt__(self, other):
        return self._key < other._key

    def __le__(self, other):
        return self._key <= other._key

    def __gt__(self, other):
        return self._key > other._key

    def __ge__(self, other):
        return self._key >= other._key


parse = Version
