"""What element types can hold."""

from torch import _C
import math

get_default_dtype = _C.get_default_dtype


def _of(name, type):
    if not isinstance(type, _C.dtype):
        raise TypeError(f"{name}(): argument 'type' (position 1) must be torch.dtype, not {type.__class__.__name__}")
    return type


class _Info:
    def __eq__(self, other):
        return self.__class__ is other.__class__ and self.dtype == other.dtype

    def __hash__(self):
        return hash(self.dtype)


class finfo(_Info):
    def __init__(self, type=None):
        type = get_default_dtype() if type is None else _of("finfo", type)
        # Of complex numbers each part's.
        type = _C.float32 if type.is_complex else type
        if not type.is_floating_point:
            raise TypeError("torch.finfo() requires a floating point input type. Use torch.iinfo to handle 'torch.finfo'")
        bits, eps, largest, tiny = {
            "torch.float32": (32, 2.0 ** -23, 3.4028234663852886e38, 2.0 ** -126),
            "torch.float64": (64, 2.0 ** -52, 1.7976931348623157e308, 2.0 ** -1022),
            "torch.float16": (16, 2.0 ** -10, 65504.0, 2.0 ** -14),
            "torch.bfloat16": (16, 2.0 ** -7, 3.3895313892515355e38, 2.0 ** -126),
        }[str(type)]
        self.bits, self.eps, self.max, self.min = bits, eps, largest, -largest
        self.tiny = self.smallest_normal = tiny
        self.resolution = 10.0 ** math.floor(math.log10(eps) + 1)
        self.dtype = str(type).replace("torch.", "")

    def __repr__(self):
        names = ("resolution", "min", "max", "eps", "smallest_normal", "tiny")
        return "finfo(" + "".join([f"{n}={getattr(self, n):g}, " for n in names]) + f"dtype={self.dtype})"


class iinfo(_Info):
    def __init__(self, type):
        if _of("iinfo", type) == _C.bool:
            raise TypeError("torch.bool is not supported by torch.iinfo")
        if type.is_floating_point or type.is_complex:
            raise TypeError("torch.iinfo() requires an integer input type. Use torch.finfo to handle 'torch.iinfo'")
        bits = type.itemsize * 8
        self.bits = bits
        if not type.is_signed:
            self.min, self.max = 0, 2 ** bits - 1
        else:
            self.min, self.max = -(2 ** (bits - 1)), 2 ** (bits - 1) - 1
        self.dtype = str(type).replace("torch.", "")

    def __repr__(self):
        return f"iinfo(min={self.min:g}, max={self.max:g}, dtype={self.dtype})"
