"""Names of packages and versions in the form that compares."""
import re

from packaging.version import Version


def canonicalize_name(name, *, validate=False):
    return re.sub(r"[-_.]+", "-", name).lower()


def canonicalize_version(version, *, strip_trailing_zero=True):
    text = str(version if isinstance(version, Version) else Version(version))
    return re.sub(r"^((?:\d+!)?\d+(?:\.\d+)*?)(?:\.0)+(?![\d.])", r"\1", text) if strip_trailing_zero else text
