"""Names that are not there: what a module's `__getattr__` says of them."""

import importlib


class _Missing(NotImplementedError, AttributeError, ImportError):
    """It counts as what `hasattr` and `try: from .. import ..` ask for."""


_Missing.__name__ = _Missing.__qualname__ = "NotImplementedError"
_Missing.__module__ = "builtins"


def names(module, known):
    """The `__getattr__` of a module: its modules that were not imported yet, else an error with the nearest of its names."""
    def find(name):
        if name.startswith("__"):
            raise AttributeError(f"module '{module}' has no attribute '{name}'")
        try:
            return importlib.import_module(f"{module}.{name}")
        except ModuleNotFoundError:
            pass
        from torch._C import nearest
        near = nearest(name, [n for n in known if not n.startswith("_")])
        raise _Missing(f"{module}.{name} is not there" + (f"; the nearest name is {module}.{near}" if near else ""))
    return find
