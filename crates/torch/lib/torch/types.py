"""torch.types."""

from torch import Size, Tensor, device, dtype
from typing import Any, Sequence, Union
import builtins

Number = Union[builtins.int, builtins.float, builtins.bool]
_Number = (builtins.int, builtins.float, builtins.bool)
_int, _float, _bool, _dtype, _device = builtins.int, builtins.float, builtins.bool, dtype, device
_complex, _TensorOrTensors, _symint = builtins.complex, Union[Tensor, Sequence[Tensor]], builtins.int
_size = Union[Size, list, tuple]
Device = Union[device, str, builtins.int, None]
FileLike = Storage = Any
