"""Whether a module is there."""

import sys


class ModuleSpec:
    def __init__(self, name):
        self.name, self.origin, self.loader = name, None, None


def find_spec(name, package=None):
    """Imports it to see, where CPython only looks: modules here are few and do little when imported."""
    if name in sys.modules:
        return ModuleSpec(name)
    try:
        __import__(name)
    except ImportError:
        return None
    return ModuleSpec(name)
