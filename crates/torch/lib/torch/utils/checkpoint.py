"""Regions whose intermediate values are computed again in the walk backward instead of being kept."""

from torch import _C
from torch._C import Tensor
from torch.autograd.function import Function


class _Region(Function):
    @staticmethod
    def forward(ctx, call, state, *args):
        ctx.call, ctx.state, ctx.args = call, state, args
        return call(*args)

    @staticmethod
    def backward(ctx, *gradients):
        from torch.autograd import backward
        now = _C.default_generator().get_state() if ctx.state is not None else None
        if ctx.state is not None:
            _C.default_generator().set_state(ctx.state)
        before = _C.set_grad_enabled(True)
        try:
            inputs = [a.detach().requires_grad_() if isinstance(a, Tensor) and a.requires_grad else a for a in ctx.args]
            made = ctx.call(*inputs)
            made = made if isinstance(made, tuple) else (made,)
            for y, g in zip(made, gradients):
                if isinstance(y, Tensor) and y.requires_grad and g is not None:
                    backward(y, g, retain_graph=len(made) > 1)
        finally:
            _C.set_grad_enabled(before)
            if now is not None:
                _C.default_generator().set_state(now)
        return (None, None, *[a.grad if isinstance(a, Tensor) else None for a in inputs])


def checkpoint(function=None, *args, use_reentrant=None, context_fn=None, determinism_check="default", debug=False, preserve_rng_state=True,
               **kwargs):
    """`function(*args)`, whose parameters get their gradients when the region is run again; without one, what makes functions so."""
    if function is None:
        import functools
        return lambda f: functools.wraps(f)(functools.partial(checkpoint, f, use_reentrant=use_reentrant, preserve_rng_state=preserve_rng_state))
    call = (lambda *a: function(*a, **kwargs)) if kwargs else function
    if not _C.is_grad_enabled():
        return call(*args)
    state = _C.default_generator().get_state() if preserve_rng_state else None
    # A region none of whose inputs needs a gradient still has parameters: an input of no size keeps it on the way.
    if not any(isinstance(a, Tensor) and a.requires_grad for a in args):
        anchor = _C.full((0,), 0.0).requires_grad_()
        return _Region.apply(lambda *a: call(*a[:-1]), state, *args, anchor)
    return _Region.apply(call, state, *args)


def checkpoint_sequential(functions, segments, input, use_reentrant=None, **kwargs):
    functions = list(functions.children()) if hasattr(functions, "children") else list(functions)
    size = len(functions) // segments

    def run(start, end):
        def forward(x):
            for f in functions[start:end]:
                x = f(x)
            return x
        return forward
    end = -1
    for start in range(0, size * (segments - 1), size):
        end = start + size - 1
        input = checkpoint(run(start, end + 1), input, use_reentrant=use_reentrant, **kwargs)
    return run(end + 1, len(functions))(input)


def get_device_states(*args):
    """The devices' random states: numbers are drawn on the host for all of them."""
    return [], []


def set_device_states(devices, states, *, device_type=None):
    pass
