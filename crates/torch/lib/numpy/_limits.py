"""What a kind of number holds, and of which family it is."""

from numpy._scalars import Float64
import numpy as np

__all__ = """finfo iinfo issubdtype""".split()


def finfo(kind):
    import torch
    return _Limits(torch.finfo(getattr(torch, np._name(kind))), np._name(kind))


class _Limits:
    """As torch.finfo, with numbers of the type itself."""

    def __init__(self, of, kind):
        self.bits, self.dtype = of.bits, np.dtype(kind)
        for name in ("eps", "max", "min", "tiny", "smallest_normal", "resolution"):
            setattr(self, name, np.array(getattr(of, name), kind)[()] if kind != "float64" else Float64(getattr(of, name)))


def iinfo(kind):
    import torch
    return torch.iinfo(getattr(torch, np._name(kind)))


def issubdtype(a, b):
    kind = np._name(a)
    if b is np.floating:
        return kind.startswith("float")
    if b is np.integer:
        return "int" in kind
    return b is np.number and kind != "bool" or kind == (b if isinstance(b, str) else getattr(b, "name", None))
