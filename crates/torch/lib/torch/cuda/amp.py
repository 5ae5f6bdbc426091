"""torch.cuda.amp: what torch.amp has, for CUDA."""

from torch import _C, amp as _amp
from torch.amp import custom_bwd, custom_fwd


class autocast(_amp.autocast):
    def __init__(self, enabled=True, dtype=_C.float16, cache_enabled=True):
        super().__init__("cuda", dtype, enabled)


class GradScaler(_amp.GradScaler):
    def __init__(self, init_scale=65536.0, growth_factor=2.0, backoff_factor=0.5, growth_interval=2000, enabled=True):
        super().__init__("cuda", init_scale, growth_factor, backoff_factor, growth_interval, enabled)
