"""torch.backends: settings that change nothing here."""

from contextlib import nullcontext


class _Settings:
    def __init__(self, **values):
        self.__dict__.update(values)

    def is_available(self):
        return False

    def is_built(self):
        return False


cudnn = _Settings(deterministic=False, benchmark=False, enabled=True, allow_tf32=True, version=lambda: None)
mps = _Settings()
cuda = _Settings(
    matmul=_Settings(allow_tf32=False), is_flash_attention_available=lambda: False, sdp_kernel=lambda *args, **kwargs: nullcontext(),
    enable_flash_sdp=lambda on: None, enable_math_sdp=lambda on: None, enable_mem_efficient_sdp=lambda on: None)
mkldnn = _Settings(enabled=False)
mkl = openmp = _Settings()
