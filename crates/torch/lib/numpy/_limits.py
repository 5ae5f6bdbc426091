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


class iinfo:
    def __init__(self, kind):
        import torch
        self.dtype = np.dtype(getattr(kind, "dtype", kind) if not isinstance(kind, int) else "int64")
        if self.dtype.kind not in "iu":
            raise ValueError(f"Invalid integer data type {self.dtype.kind!r}.")
        of = torch.iinfo(getattr(torch, self.dtype.name))
        self.min, self.max, self.bits, self.kind = of.min, of.max, of.bits, self.dtype.kind

    def __repr__(self):
        return f"iinfo(min={self.min}, max={self.max}, dtype={self.dtype})"


def issubdtype(arg1, arg2):
    kind = np.dtype(arg1).kind if arg1 not in (np.floating, np.integer, np.number, np.generic) else {np.floating: "f", np.integer: "i"}.get(arg1, "n")
    families = {np.floating: "f", np.integer: "iu", np.number: "iufcn", np.generic: "biufcUSOmMn", np.signedinteger: "i",
                np.unsignedinteger: "u", np.inexact: "fc", np.complexfloating: "c", np.character: "SU", np.flexible: "SUV"}
    for family, letters in families.items():
        if arg2 is family:
            return kind in letters
    if arg2 in (str, bytes, object, complex) or arg2 in (np.datetime64, np.timedelta64):
        return kind == {str: "U", bytes: "S", object: "O", complex: "c", np.datetime64: "M", np.timedelta64: "m"}[arg2]
    return np.dtype(arg1) == np.dtype(arg2)
