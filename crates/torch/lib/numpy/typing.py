"""numpy.typing: names for annotations."""

from typing import Any
from numpy import ndarray as NDArray

ArrayLike = DTypeLike = Any
