"""torch.nn.attention: which kernel computes attention is the compiler's choice here."""

from contextlib import nullcontext
from enum import Enum


class SDPBackend(Enum):
    ERROR = -1
    MATH = 0
    FLASH_ATTENTION = 1
    EFFICIENT_ATTENTION = 2
    CUDNN_ATTENTION = 3


def sdpa_kernel(backends, set_priority=False):
    return nullcontext()
