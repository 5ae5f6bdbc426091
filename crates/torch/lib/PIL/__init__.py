"""PIL: images of bytes, the part that data sets and transforms use."""

__version__ = "13.0.0"


class UnidentifiedImageError(OSError):
    pass
