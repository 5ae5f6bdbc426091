"""torch.ops: the operators that a script defined by torch.library, under their namespaces; `torch.ops.aten` has torch's functions."""

import torch


class _Namespace:
    def __init__(self, name):
        self._name = name

    def __getattr__(self, name):
        from torch.library import _defined
        found = _defined.get(f"{self._name}::{name}")
        if found is None and self._name == "aten":
            found = _Function(getattr(torch, name))
        if found is None:
            raise AttributeError(f"'_OpNamespace' '{self._name}' object has no attribute '{name}'")
        return found


class _Function:
    """A function of torch as an operator with overloads, which are one here."""

    def __init__(self, function):
        self._function = function
        self.__name__ = function.__name__

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return self

    def __call__(self, *args, **kwargs):
        return self._function(*args, **kwargs)


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(f"module 'torch.ops' has no attribute '{name}'")
    return _Namespace(name)
