"""What scripts take from SciPy beside torch: a filter, an assignment, densities of the normal distribution, distances."""

import importlib

__version__ = "1.14.0"


def __getattr__(name):
    if name in ("integrate", "optimize", "signal", "spatial", "special", "stats"):
        return importlib.import_module("scipy." + name)
    raise AttributeError(f"Module 'scipy' has no attribute '{name}'")
