"""Versions of packages, as PEP 440 orders them."""
import re

_VERSION = re.compile(
    r"v?(?:(\d+)!)?(\d+(?:\.\d+)*)(?:[-_.]?(a|alpha|b|beta|c|rc|pre|preview)[-_.]?(\d*))?"
    r"(?:-(\d+)|[-_.]?(?:post|rev|r)[-_.]?(\d*))?(?:[-_.]?(dev)[-_.]?(\d*))?(?:\+([a-z0-9]+(?:[-_.][a-z0-9]+)*))?")
_PHASES = {"a": "a", "alpha": "a", "b": "b", "beta": "b", "c": "rc", "rc": "rc", "pre": "rc", "preview": "rc"}
_LAST = (2, "", 0)


class InvalidVersion(ValueError):
    pass


class Version:
    def __init__(self, version):
        found = _VERSION.fullmatch(version.strip().lower())
        if found is None:
            raise InvalidVersion(f"Invalid version: {version!r}")
        epoch, release, phase, number, dashed, post, dev, dev_number, local = found.groups()
        self.epoch = int(epoch or 0)
        self.release = tuple(int(n) for n in release.split("."))
        self.pre = (_PHASES[phase], int(number or 0)) if phase else None
        self.post = int(dashed) if dashed else int(post or 0) if post is not None else None
        self.dev = int(dev_number or 0) if dev else None
        self.local = re.sub("[-_]", ".", local) if local else None
        short = self.release
        while len(short) > 1 and short[-1] == 0:
            short = short[:-1]
        # Of one release: development first, then what comes before it, itself, what comes after it.
        pre = (0, "", 0) if self.pre is None and self.post is None and self.dev is not None else (1, *self.pre) if self.pre else _LAST
        parts = () if self.local is None else tuple((1, int(p), "") if p.isdigit() else (0, 0, p) for p in self.local.split("."))
        self._key = (self.epoch, short, pre, -1 if self.post is None else self.post, (1, 0) if self.dev is None else (0, self.dev), parts)

    @property
    def major(self):
        return self.release[0]

    @property
    def minor(self):
        return self.release[1] if len(self.release) > 1 else 0

    @property
    def micro(self):
        return self.release[2] if len(self.release) > 2 else 0

    @property
    def is_prerelease(self):
        return self.dev is not None or self.pre is not None

    @property
    def is_devrelease(self):
        return self.dev is not None

    @property
    def is_postrelease(self):
        return self.post is not None

    @property
    def base_version(self):
        return (f"{self.epoch}!" if self.epoch else "") + ".".join(map(str, self.release))

    @property
    def public(self):
        return str(self).split("+", 1)[0]

    def __str__(self):
        text = self.base_version + ("" if self.pre is None else self.pre[0] + str(self.pre[1]))
        text += "" if self.post is None else f".post{self.post}"
        text += "" if self.dev is None else f".dev{self.dev}"
        return text + ("" if self.local is None else "+" + self.local)

    def __repr__(self):
        return f"<Version('{self}')>"

    def __hash__(self):
        return hash(self._key)

    def __eq__(self, other):
        return self._key == other._key if isinstance(other, Version) else NotImplemented

    def __lt__(self, other):
        return self._key < other._key if isinstance(other, Version) else NotImplemented

    def __le__(self, other):
        return self._key <= other._key if isinstance(other, Version) else NotImplemented

    def __gt__(self, other):
        return self._key > other._key if isinstance(other, Version) else NotImplemented

    def __ge__(self, other):
        return self._key >= other._key if isinstance(other, Version) else NotImplemented


def parse(version):
    return Version(version)
