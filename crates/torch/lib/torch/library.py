"""torch.library: operators of a script's own, which torch.ops names too. Their bodies run as the script wrote them."""

import inspect

import torch
from torch.autograd.function import Function

_defined = {}


class CustomOpDef:
    """What `custom_op` makes of a function."""

    def __init__(self, name, function, mutates_args=()):
        self._qualname, self._function, self._backward, self._setup, self._kernels = name, function, None, None, {}
        self._mutates = mutates_args
        self.__name__, self.__doc__ = function.__name__, function.__doc__
        _defined[name] = self

    @property
    def default(self):
        return self

    def __repr__(self):
        return f"<CustomOpDef({self._qualname})>"

    def register_fake(self, fn=None):
        """Sizes of results are known from running the body, so nothing asks for this."""
        return fn if fn is not None else self.register_fake

    def register_kernel(self, device_types, func=None):
        def keep(func):
            for name in [device_types] if isinstance(device_types, str) else device_types or ["default"]:
                self._kernels[name] = func
            return func
        return keep if func is None else keep(func)

    def register_autograd(self, backward, *, setup_context=None):
        if self._mutates:
            raise RuntimeError(f"Cannot register autograd formula for non-functional operator {self._qualname}. Please create a functional "
                               "operator and register an autograd formula for that.")
        self._backward, self._setup = backward, setup_context

    def register_vmap(self, func=None):
        return func if func is not None else self.register_vmap

    def register_torch_dispatch(self, torch_dispatch_class, fn=None):
        raise NotImplementedError("register_torch_dispatch(); there are no dispatch modes")

    def _run(self, *args):
        first = [a for a in args if isinstance(a, torch.Tensor)]
        return self._kernels.get(first[0].device.type if first else "default", self._function)(*args)

    def __call__(self, *args, **kwargs):
        if kwargs or self._backward:
            bound = inspect.signature(self._function).bind(*args, **kwargs)
            bound.apply_defaults()
            args = tuple(bound.arguments.values())
        # Without a formula of its own an operator has no derivative, as in PyTorch.
        if self._backward is None:
            wanted = torch.is_grad_enabled() and any([isinstance(a, torch.Tensor) and a.requires_grad for a in args])
            return _Opaque.apply(self, *args) if wanted and not self._mutates else self._run(*args)
        return _Differentiable.apply(self, *args)


class _Opaque(Function):
    @staticmethod
    def forward(ctx, op, *args):
        ctx.op = op
        return op._run(*args)

    @staticmethod
    def backward(ctx, *gradients):
        raise RuntimeError(f"Trying to backward through {ctx.op._qualname.replace("::", ".")}.default but no autograd formula was registered. Please use "
                           "register_autograd to add one.")


class _Differentiable(Function):
    @staticmethod
    def forward(ctx, op, *args):
        ctx.op = op
        made = op._run(*args)
        if op._setup is not None:
            ctx.needs_input_grad = ctx.needs_input_grad[1:]
            op._setup(ctx, args, made)
        return made

    @staticmethod
    def backward(ctx, *gradients):
        made = ctx.op._backward(ctx, *gradients)
        return (None, *made) if isinstance(made, tuple) else (None, made)


def custom_op(name, fn=None, /, *, mutates_args, device_types=None, schema=None, tags=None):
    if "::" not in name:
        raise ValueError(f"Expected `name` to be of the form `namespace::name`, got {name}")
    make = lambda fn: CustomOpDef(name, fn, mutates_args)
    return make if fn is None else make(fn)


triton_op = custom_op


def _known(op):
    found = op if isinstance(op, CustomOpDef) else _defined.get(op)
    if found is None:
        raise RuntimeError(f"operator {op} does not exist; torch.library.custom_op defines it")
    return found


def register_fake(op, func=None, /, *, lib=None, allow_override=False):
    return (lambda func: _known(op).register_fake(func)) if func is None else _known(op).register_fake(func)


def register_kernel(op, device_types, func=None, /, *, lib=None):
    return _known(op).register_kernel(device_types, func)


def register_autograd(op, backward, /, *, setup_context=None, lib=None):
    _known(op).register_autograd(backward, setup_context=setup_context)
