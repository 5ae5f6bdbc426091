"""Conditions on where a requirement holds: `python_version >= "3.8" and sys_platform == "linux"`."""
import os
import platform
import re
import sys

from packaging.specifiers import InvalidSpecifier, Specifier

_TOKEN = re.compile(r"""\s*('[^']*'|"[^"]*"|\(|\)|~=|===?|!=|<=|>=|<|>|not\s+in\b|[A-Za-z_][\w.]*)""")


class InvalidMarker(ValueError):
    pass


class UndefinedEnvironmentName(ValueError):
    pass


def default_environment():
    version = ".".join(map(str, sys.version_info[:3]))
    return {"implementation_name": "cpython", "implementation_version": version, "os_name": os.name, "platform_machine": platform.machine(),
            "platform_release": platform.release(), "platform_system": platform.system(), "platform_version": "", "sys_platform": sys.platform,
            "python_full_version": version, "platform_python_implementation": "CPython",
            "python_version": ".".join(map(str, sys.version_info[:2]))}


class Marker:
    def __init__(self, marker):
        self._text = marker.strip()
        tokens, at = [], 0
        while at < len(self._text):
            found = _TOKEN.match(self._text, at)
            if found is None:
                raise InvalidMarker(f"Invalid marker: {marker!r}")
            tokens.append(found.group(1))
            at = found.end()
        self._tokens = tokens
        self.evaluate({"extra": ""})

    def evaluate(self, environment=None, context="metadata"):
        known = {**default_environment(), "extra": "", **(environment or {})}
        rest = list(self._tokens)
        made = self._any(rest, known)
        if rest:
            raise InvalidMarker(f"Invalid marker: {self._text!r}")
        return made

    def _any(self, rest, known):
        made = self._all(rest, known)
        while rest[:1] == ["or"]:
            rest.pop(0)
            made = self._all(rest, known) or made
        return made

    def _all(self, rest, known):
        made = self._one(rest, known)
        while rest[:1] == ["and"]:
            rest.pop(0)
            made = self._one(rest, known) and made
        return made

    def _one(self, rest, known):
        if len(rest) < 3:
            raise InvalidMarker(f"Invalid marker: {self._text!r}")
        if rest[0] == "(":
            rest.pop(0)
            made = self._any(rest, known)
            if rest[:1] != [")"]:
                raise InvalidMarker(f"Invalid marker: {self._text!r}")
            rest.pop(0)
            return made
        left, operator, right = [rest.pop(0) for _ in range(3)]
        a, b = [self._value(x, known) for x in (left, right)]
        if operator in ("in", "not in") or operator.startswith("not"):
            return (a in b) == (operator == "in")
        try:
            return Specifier(operator + b).contains(a, True)
        except (InvalidSpecifier, ValueError):
            pass
        return {"==": a == b, "===": a == b, "!=": a != b, "<": a < b, "<=": a <= b, ">": a > b, ">=": a >= b}[operator]

    def _value(self, token, known):
        if token[0] in "'\"":
            return token[1:-1]
        name = token.replace(".", "_")
        if name not in known:
            raise InvalidMarker(f"Invalid marker: {self._text!r}")
        return known[name]

    def __str__(self):
        return self._text.replace("'", '"')

    def __repr__(self):
        return f"<Marker('{self}')>"
