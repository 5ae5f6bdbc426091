"""torch._inductor: settings that scripts make."""

from torch._dynamo import _Settings

config = _Settings(
    coordinate_descent_tuning=False, max_autotune=False, fx_graph_cache=True, epilogue_fusion=True, fallback_random=False, debug=False,
    shape_padding=True, triton=_Settings(unique_kernel_names=True, cudagraphs=False),
)
