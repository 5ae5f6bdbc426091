"""PIL: images of bytes, the part that data sets and transforms use."""

__version__ = "13.0.0"


class UnidentifiedImageError(OSError):
    pass


def __getattr__(name):
    import importlib
    if name.startswith("Image"):
        return importlib.import_module(f"PIL.{name}")
    raise AttributeError(f"module 'PIL' has no attribute '{name}'")
