"""What element types can hold."""

from torch import _C
import math

uint8, get_default_dtype = _C.uint8, _C.get_default_dtype


class finfo:
    def __init__(self, type=None):
        if type is not None and not (type.is_floating_point or type.is_complex):
            raise TypeError("torch.finfo() requires a floating point input type. Use torch.iinfo to handle 'torch.finfo'")
        bits, eps, largest, tiny = {
            "torch.complex64": (32, 2.0 ** -23, 3.4028234663852886e38, 2.0 ** -126),
            "torch.float32": (32, 2.0 ** -23, 3.4028234663852886e38, 2.0 ** -126),
            "torch.float64": (64, 2.0 ** -52, 1.7976931348623157e308, 2.0 ** -1022),
            "torch.float16": (16, 2.0 ** -10, 65504.0, 2.0 ** -14),
            "torch.bfloat16": (16, 2.0 ** -7, 3.3895313892515355e38, 2.0 ** -126),
        }[str(type or get_default_dtype())]
        self.bits, self.eps, self.max, self.min = bits, eps, largest, -largest
        self.tiny = self.smallest_normal = tiny
        self.resolution = 10.0 ** math.floor(math.log10(eps) + 1)
        self.dtype = str(type or get_default_dtype()).replace("torch.", "").replace("complex64", "float32")

    def __repr__(self):
        names = ("resolution", "min", "max", "eps", "smallest_normal", "tiny")
        return "finfo(" + "".join([f"{n}={getattr(self, n):g}, " for n in names]) + f"dtype={self.dtype})"


class iinfo:
    def __init__(self, type):
        if type.is_floating_point or type.is_complex:
            raise TypeError("torch.iinfo() requires an integer input type. Use torch.finfo to handle 'torch.iinfo'")
        bits = type.itemsize * 8
        self.bits = bits
        if type == uint8:
            self.min, self.max = 0, 255
        else:
            self.min, self.max = -(2 ** (bits - 1)), 2 ** (bits - 1) - 1
        self.dtype = str(type).replace("torch.", "")

    def __repr__(self):
        return f"iinfo(min={self.min}, max={self.max}, dtype={self.dtype})"
