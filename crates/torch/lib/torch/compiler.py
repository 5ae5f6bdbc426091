"""torch.compiler: what scripts tell PyTorch's compiler. Here a whole script is compiled, or none; a compiled function is checked for
what its arguments promise."""

import builtins as _builtins

from torch import _C

_BACKENDS = ("aludel", "cudagraphs", "inductor", "onnxrt", "openxla", "tvm")
_DEBUG = ("aot_eager", "aot_eager_decomp_partition", "aot_ts", "debug", "eager", "eager_debug", "eager_noexcept")
_MODES = ("default", "reduce-overhead", "max-autotune-no-cudagraphs", "max-autotune")

# The compiled functions that run now, whether each must be one graph.
_running = []


class Unsupported(RuntimeError):
    """A graph would break in a function of which `fullgraph` says that it does not."""


class InvalidBackend(RuntimeError):
    pass


Unsupported.__module__ = InvalidBackend.__module__ = "torch._dynamo.exc"


def _told(fullgraph):
    _running.append(fullgraph)
    _C.whole_graph(fullgraph is True)


def _done():
    _running.pop()
    _C.whole_graph(bool(_running) and _running[-1] is True)


def _run(fn, fullgraph, args, kwargs):
    _told(fullgraph)
    try:
        return fn(*args, **kwargs)
    except RuntimeError as error:
        if _C.graph_broke():
            raise Unsupported(str(error)) from None
        raise
    finally:
        _done()


def _compiled(fn, fullgraph):
    def compiled(*args, **kwargs):
        return _run(fn, fullgraph, args, kwargs)
    for name in ("__name__", "__qualname__", "__doc__", "__module__"):
        try:
            setattr(compiled, name, getattr(fn, name))
        except AttributeError:
            pass
    compiled.__wrapped__ = compiled._torchdynamo_orig_callable = fn
    return compiled


def _check(fullgraph, dynamic, backend, mode, options):
    if _builtins.callable(backend):
        raise NotImplementedError("torch.compile with a backend of one's own; leave the argument out")
    if backend not in _BACKENDS and backend not in _DEBUG:
        raise InvalidBackend(f"Invalid backend: {backend!r}, see `torch._dynamo.list_backends()` for available backends.")
    if mode is not None and backend == "inductor" and mode not in _MODES:
        raise RuntimeError(f"Unrecognized mode={mode}, should be one of: {', '.join(_MODES)}")
    if dynamic is not None and not isinstance(dynamic, bool):
        raise TypeError(f"dynamic must be a bool or None, not {type(dynamic).__name__}")
    if options is not None and not isinstance(options, dict):
        raise TypeError(f"options must be a dict, not {type(options).__name__}")


def compile(model=None, *, fullgraph=False, dynamic=None, backend="inductor", mode=None, options=None, disable=False):
    """`torch.compile`: the function or module, which knows that it is compiled."""
    if mode is None and options is None:
        mode = "default"
    elif mode is not None and options is not None:
        raise RuntimeError("Either mode or options can be specified, but both can't be specified at the same time.")
    if model is None:
        def decorate(model):
            if model is None:
                raise RuntimeError("Model can't be None")
            return compile(model, fullgraph=fullgraph, dynamic=dynamic, backend=backend, mode=mode if options is None else None,
                           options=options, disable=disable)
        return decorate
    _check(fullgraph, dynamic, backend, mode, options)
    if disable:
        return model
    from torch.nn import Module
    if isinstance(model, Module):
        return _module(model, fullgraph)
    if not _builtins.callable(model):
        raise AssertionError(f"{model} is not callable")
    return _compiled(model, fullgraph)


def _module(model, fullgraph):
    from torch._dynamo import OptimizedModule
    return model if isinstance(model, OptimizedModule) else OptimizedModule(model, fullgraph)


def is_compiling():
    return bool(_running) and _running[-1] is not None


def is_dynamo_compiling():
    return is_compiling()


def is_exporting():
    return False


def disable(fn=None, recursive=True, *, reason=None):
    """The function runs as if it were not compiled: it breaks a graph around it."""
    if fn is None:
        return lambda fn: disable(fn, recursive, reason=reason)
    if not _builtins.callable(fn):
        raise AssertionError(f"disable() needs a function, not {type(fn).__name__}")

    def disabled(*args, **kwargs):
        if _running and _running[-1] is True:
            raise Unsupported("Skip calling `torch.compiler.disable()`d function" + (f"\n  Explanation: {reason}" if reason else ""))
        _told(None)
        try:
            return fn(*args, **kwargs)
        finally:
            _done()
    disabled.__name__ = getattr(fn, "__name__", "disabled")
    disabled.__wrapped__ = fn
    return disabled


def reset():
    """Forgets what was compiled. Graphs are found by being equal here, so that forgetting them would change nothing but time."""


def cudagraph_mark_step_begin():
    """Steps begin where loops turn."""


def allow_in_graph(fn):
    if isinstance(fn, (list, tuple)):
        return [allow_in_graph(f) for f in fn]
    assert _builtins.callable(fn), "allow_in_graph expects a callable"
    return fn


def assume_constant_result(fn):
    return fn


def substitute_in_graph(original_fn, **kwargs):
    return lambda fn: fn


def wrap_numpy(fn):
    return fn


def list_backends(exclude_tags=("debug", "experimental")):
    return sorted(_BACKENDS if "debug" in (exclude_tags or ()) else _BACKENDS + _DEBUG)


class set_stance:
    """Says how compiled functions run from here on, or in a block."""

    def __init__(self, stance="default", *, skip_guard_eval_unsafe=False, force_backend=None):
        if stance not in ("default", "eager_then_compile", "aot_eager_then_compile", "force_eager", "eager_on_recompile", "fail_on_recompile"):
            raise RuntimeError(f"invalid torch.compile stance '{stance}'")

    def __call__(self, fn):
        return fn

    def __enter__(self):
        return self

    def __exit__(self, *args):
        return False
