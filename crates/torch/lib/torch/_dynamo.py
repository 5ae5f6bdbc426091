"""torch._dynamo: the part of it that scripts name."""

from torch.compiler import (
    InvalidBackend, Unsupported, _run, _running, allow_in_graph, assume_constant_result, disable, is_compiling, list_backends, reset,
)
from torch.nn import Module as _Module


class _Settings:
    """Settings that scripts make; none changes what is computed."""

    def __init__(self, **values):
        self.__dict__.update(values)

    def __getattr__(self, name):
        raise AttributeError(f"{name} is not a setting")


config = _Settings(
    suppress_errors=False, verbose=False, cache_size_limit=8, recompile_limit=8, accumulated_cache_size_limit=256, dynamic_shapes=True,
    assume_static_by_default=True, automatic_dynamic_shapes=True, capture_scalar_outputs=False, capture_dynamic_output_shape_ops=False,
    specialize_int=False, guard_nn_modules=True, optimize_ddp=True, log_level=30, inline_inbuilt_nn_modules=True, disable=False,
)


class exc:
    Unsupported = Unsupported
    InvalidBackend = InvalidBackend


class OptimizedModule(_Module):
    """What `torch.compile` makes of a module: its parameters are called `_orig_mod.` and their names."""

    def __init__(self, mod, fullgraph=False):
        super().__init__()
        self.__dict__["_fullgraph"] = fullgraph
        self._modules["_orig_mod"] = mod

    def __call__(self, *args, **kwargs):
        return _run(self._modules["_orig_mod"], self._fullgraph, args, kwargs)

    forward = __call__

    @property
    def training(self):
        return self._modules["_orig_mod"].training

    def __getattr__(self, name):
        if name == "_orig_mod":
            return self._modules["_orig_mod"]
        return getattr(self._modules["_orig_mod"], name)

    def __setattr__(self, name, value):
        setattr(self._modules["_orig_mod"], name, value)

    def __delattr__(self, name):
        delattr(self._modules["_orig_mod"], name)

    def __len__(self):
        return len(self._modules["_orig_mod"])

    def __getitem__(self, index):
        return self._modules["_orig_mod"][index]

    def __iter__(self):
        return iter(self._modules["_orig_mod"])


def optimize(backend="inductor", *, nopython=False, dynamic=None, disable=False, **kwargs):
    from torch.compiler import compile
    return compile(backend=backend, fullgraph=nopython, dynamic=dynamic, disable=disable)


def graph_break(msg=""):
    if _running and _running[-1] is True:
        raise Unsupported("Call to `torch._dynamo.graph_break()`")


def mark_dynamic(t, index, **kwargs):
    pass


maybe_mark_dynamic = mark_static = mark_dynamic


def run(fn):
    return fn
