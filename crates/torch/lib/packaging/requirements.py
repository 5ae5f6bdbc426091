"""What a package needs: `name[extra]>=1.0; python_version < "3.9"`."""
import re

from packaging.markers import InvalidMarker, Marker
from packaging.specifiers import InvalidSpecifier, SpecifierSet

_REQUIREMENT = re.compile(r"\s*([A-Za-z0-9](?:[\w.-]*[A-Za-z0-9])?)\s*(?:\[([^\]]*)\])?\s*(?:@\s*(\S+)|\(?([^;()]*)\)?)\s*(?:;(.*))?", re.S)


class InvalidRequirement(ValueError):
    pass


class Requirement:
    def __init__(self, requirement_string):
        found = _REQUIREMENT.fullmatch(requirement_string)
        if found is None:
            raise InvalidRequirement(f"Expected package name at the start of dependency specifier\n    {requirement_string}")
        self.name, extras, self.url, spec, marker = found.groups()
        self.extras = {e.strip() for e in (extras or "").split(",") if e.strip()}
        try:
            self.specifier = SpecifierSet(spec or "")
            self.marker = Marker(marker) if marker and marker.strip() else None
        except (InvalidSpecifier, InvalidMarker) as error:
            raise InvalidRequirement(str(error)) from error

    def __str__(self):
        extras = f"[{','.join(sorted(self.extras))}]" if self.extras else ""
        url = f" @ {self.url}" if self.url else ""
        return f"{self.name}{extras}{self.specifier}{url}" + (f"; {self.marker}" if self.marker else "")

    def __repr__(self):
        return f"<Requirement('{self}')>"

    def __eq__(self, other):
        return str(self) == str(other) if isinstance(other, Requirement) else NotImplemented

    def __hash__(self):
        return hash(str(self))
