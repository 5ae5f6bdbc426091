"""Sets of versions, as PEP 440 writes them: `>=2.0,<3,!=2.1.*`."""
import re

from packaging.version import InvalidVersion, Version

_SPECIFIER = re.compile(r"\s*(~=|===|==|!=|<=|>=|<|>)\s*([^\s,;)]+)\s*")


class InvalidSpecifier(ValueError):
    pass


def _starts(version, start):
    wanted = Version(start)
    release = version.release + (0,) * (len(wanted.release) - len(version.release))
    return version.epoch == wanted.epoch and release[:len(wanted.release)] == wanted.release


def _allowed(version, asked, own):
    """Versions before a release are in, unless somebody said no."""
    said = own if asked is None else asked
    return said is not False or not version.is_prerelease


class Specifier:
    def __init__(self, spec="", prereleases=None):
        found = _SPECIFIER.fullmatch(spec)
        if found is None:
            raise InvalidSpecifier(f"Invalid specifier: {spec!r}")
        self.operator, self.version = found.groups()
        self._prereleases = prereleases
        if self.operator != "===":
            try:
                Version(self.version[:-2] if self.version.endswith(".*") and self.operator in ("==", "!=") else self.version)
            except InvalidVersion:
                raise InvalidSpecifier(f"Invalid specifier: {spec!r}") from None

    @property
    def prereleases(self):
        if self._prereleases is not None:
            return self._prereleases
        return self.operator in ("==", ">=", "<=", "~=", "===") and not self.version.endswith(".*") and Version(self.version).is_prerelease

    def contains(self, item, prereleases=None):
        version = item if isinstance(item, Version) else Version(item)
        return _allowed(version, prereleases, self._prereleases) and self._holds(version)

    def _holds(self, version):
        operator, text = self.operator, self.version
        if operator == "===":
            return str(version).lower() == text.lower()
        if text.endswith(".*"):
            return _starts(version, text[:-2]) == (operator == "==")
        wanted = Version(text)
        # What an installer adds to a version does not count where the specifier does not name it.
        public = version if wanted.local is not None else Version(version.public)
        if operator == "~=":
            return public >= wanted and _starts(version, ".".join(map(str, wanted.release[:-1])))
        if operator == "<":
            return public < wanted and (wanted.is_prerelease or not version.is_prerelease or version.base_version != wanted.base_version)
        if operator == ">":
            return public > wanted and (wanted.is_postrelease or not version.is_postrelease or version.base_version != wanted.base_version)
        return {"==": public == wanted, "!=": public != wanted, "<=": public <= wanted, ">=": public >= wanted}[operator]

    def __contains__(self, item):
        return self.contains(item)

    def __str__(self):
        return self.operator + self.version

    def __repr__(self):
        return f"<Specifier('{self}')>"

    def __eq__(self, other):
        return str(self) == str(other)

    def __hash__(self):
        return hash(str(self))


class SpecifierSet:
    def __init__(self, specifiers="", prereleases=None):
        parts = specifiers.split(",") if isinstance(specifiers, str) else specifiers
        self._specs = frozenset(p if isinstance(p, Specifier) else Specifier(p) for p in parts if isinstance(p, Specifier) or p.strip())
        self._prereleases = prereleases

    @property
    def prereleases(self):
        return self._prereleases if self._prereleases is not None else any(s.prereleases for s in self._specs) if self._specs else None

    @prereleases.setter
    def prereleases(self, value):
        self._prereleases = value

    def contains(self, item, prereleases=None, installed=None):
        version = item if isinstance(item, Version) else Version(item)
        if installed and version.is_prerelease:
            version = Version(version.base_version)
        return _allowed(version, prereleases, self._prereleases) and all(s.contains(version, True) for s in self._specs)

    def filter(self, iterable, prereleases=None):
        """Of versions before a release only where there are no others, or where a specifier names one."""
        fitting = [item for item in iterable if self.contains(item, prereleases)]
        if prereleases is None and not self.prereleases:
            fitting = [v for v in fitting if not Version(str(v)).is_prerelease] or fitting
        return iter(fitting)

    def __contains__(self, item):
        return self.contains(item)

    def __and__(self, other):
        return SpecifierSet([*self._specs, *(SpecifierSet(other) if isinstance(other, str) else other)])

    def __iter__(self):
        return iter(self._specs)

    def __len__(self):
        return len(self._specs)

    def __str__(self):
        return ",".join(sorted(map(str, self._specs)))

    def __repr__(self):
        return f"<SpecifierSet('{self}')>"

    def __eq__(self, other):
        return self._specs == (SpecifierSet(str(other)) if isinstance(other, (str, Specifier)) else other)._specs

    def __hash__(self):
        return hash(self._specs)
