"""Differentiation: scopes, backward, grad, functions with derivatives of their own."""

import _missing
from torch import _C
from torch._C import Tensor
from torch._hooks import add
import functools


class _Scope:
    """A scope in which recording is on or off; also a decorator."""

    _mode = False

    def __init__(self, mode=None):
        if callable(mode):
            raise TypeError("use the decorator with parentheses")
        self._before = []

    def __new__(cls, function=None, *args):
        made = object.__new__(cls)
        if callable(function):
            made._before = []
            return made(function)
        return made

    def __enter__(self):
        self._before.append(_C.set_grad_enabled(self._mode))
        return self

    def __exit__(self, *exc):
        _C.set_grad_enabled(self._before.pop())
        return False

    def __call__(self, function):
        mode = self._mode

        # A function of a generator (`inspect.CO_GENERATOR`).
        code = getattr(function, "__code__", None)
        if code is not None and code.co_flags & 32:
            return _generator(function, mode)

        @functools.wraps(function)
        def wrapped(*args, **kwargs):
            before = _C.set_grad_enabled(mode)
            try:
                return function(*args, **kwargs)
            finally:
                _C.set_grad_enabled(before)
        return wrapped


def _generator(function, mode):
    """The mode holds inside of a generator alone, not where its values are used."""
    @functools.wraps(function)
    def wrapped(*args, **kwargs):
        inner = function(*args, **kwargs)
        step, given = inner.send, None
        while True:
            before = _C.set_grad_enabled(mode)
            try:
                made = step(given)
            except StopIteration as end:
                return end.value
            finally:
                _C.set_grad_enabled(before)
            try:
                step, given = inner.send, (yield made)
            except GeneratorExit:
                inner.close()
                raise
            except BaseException as error:
                step, given = inner.throw, error
    return wrapped


class no_grad(_Scope):
    _mode = False


class enable_grad(_Scope):
    _mode = True


class inference_mode(_Scope):
    _mode = False

    def __init__(self, mode=True):
        self._before = []
        self._mode = not mode


class set_grad_enabled(_Scope):
    def __new__(cls, mode):
        return object.__new__(cls)

    def __init__(self, mode):
        self._mode = mode
        self._before = []
        self._outer = _C.set_grad_enabled(mode)

    def __enter__(self):
        self._before.append(self._outer)
        return self


def _backward(tensor, gradient=None, retain_graph=None, create_graph=False, inputs=None):
    if inputs is not None or create_graph:
        given = [] if inputs is None else list(inputs) if isinstance(inputs, (list, tuple)) else [inputs]
        wanted = given if inputs is not None else _C.leaves()
        for x, g in zip(wanted, grad(tensor, wanted, gradient, retain_graph, create_graph, allow_unused=True)):
            if g is not None:
                x.grad = g if x.grad is None else x.grad + g
                _call_after(x)
        return
    reached = _C.backward(tensor, gradient, bool(retain_graph))
    if reached is None:
        reached = function._backward(tensor, gradient, bool(retain_graph))
    for leaf in reached:
        leaf, g = leaf if isinstance(leaf, tuple) else (leaf, None)
        hooks = leaf.__dict__.get("_hooks")
        if g is not None:
            _accumulate(leaf, hooks.see(g))
        _call_after(leaf)


def _call_after(leaf):
    hooks = leaf.__dict__.get("_after")
    if hooks:
        with no_grad():
            for hook in list(hooks.values()):
                hook(leaf)


def _accumulate(x, g):
    if x.grad is None:
        x.grad = g
    else:
        with no_grad():
            x.grad.add_(g)


class _Hooks(dict):
    """Hooks by the keys of their handles, and the gradient that they leave, where `retain_grad()` asks for it."""

    keep, grad = False, None

    def see(self, g):
        for hook in list(self.values()):
            changed = hook(g)
            g = g if changed is None else changed
        return g


def _register_hook(tensor, hook, place="_hooks"):
    if not tensor.requires_grad:
        raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient")
    hooks = tensor.__dict__.get(place)
    if hooks is None:
        hooks = tensor.__dict__[place] = _Hooks()
        hooks.keep = tensor.retains_grad
        if not tensor.is_leaf:
            if place == "_after":
                raise RuntimeError("post accumulate grad hooks cannot be registered on non-leaf tensors")
            function._hooked(tensor, hooks)
    return add(hooks, hook)


def _total(tensors, gradients):
    with enable_grad():
        total = 0
        for i, (t, g) in enumerate(zip(tensors, gradients, strict=True)):
            if g is None and t.numel() != 1:
                raise RuntimeError("grad can be implicitly created only for scalar outputs")
            if g is not None and g.shape != t.shape:
                raise RuntimeError(f"Mismatch in shape: grad_output[{i}] has a shape of {g.shape} and output[{i}] has a shape of {t.shape}.")
            total = total + (t if g is None else t * g).sum()
    return total


def backward(tensors, grad_tensors=None, retain_graph=None, create_graph=False, inputs=None):
    if not isinstance(tensors, (list, tuple)):
        tensors, grad_tensors = [tensors], [grad_tensors]
    if len(tensors) > 1 and not any([t.dtype.is_complex for t in tensors]):
        # One pass over what they share.
        return _backward(_total(tensors, grad_tensors or [None] * len(tensors)), None, retain_graph, create_graph, inputs)
    for i, t in enumerate(tensors):
        _backward(t, None if grad_tensors is None else grad_tensors[i], retain_graph, create_graph, inputs)


def grad(outputs, inputs, grad_outputs=None, retain_graph=None, create_graph=False, only_inputs=True, allow_unused=None,
         is_grads_batched=False, materialize_grads=False):
    outputs = [outputs] if isinstance(outputs, Tensor) else list(outputs)
    inputs = [inputs] if isinstance(inputs, Tensor) else list(inputs)
    if grad_outputs is None:
        grad_outputs = [None] * len(outputs)
    elif not isinstance(grad_outputs, (list, tuple)):
        grad_outputs = [grad_outputs]
    if is_grads_batched:
        n = len([g for g in grad_outputs if g is not None][0])
        rows = [grad(outputs, inputs, [g if g is None else g[i] for g in grad_outputs], retain_graph or i < n - 1, create_graph,
                     allow_unused=allow_unused, materialize_grads=materialize_grads) for i in range(n)]
        return tuple([None if of[0] is None else _C._ops["stack"](list(of)) for of in zip(*rows)])
    found = _C.gradients(outputs, inputs, list(grad_outputs), create_graph, bool(retain_graph))
    if found is None:
        found = function._walk(outputs, inputs, list(grad_outputs), create_graph, bool(create_graph or retain_graph))
    for i, g in enumerate(found):
        if g is None:
            if materialize_grads:
                found[i] = inputs[i].detach() * 0
            elif not allow_unused:
                raise RuntimeError(
                    f"The differentiated Tensor at index {i} appears to not have been used in the graph. Set allow_unused=True if this "
                    "is the desired behavior.")
        elif inputs[i].is_leaf and inputs[i].__dict__.get("_hooks"):
            found[i] = inputs[i]._hooks.see(g)
    return tuple(found)


class Variable:
    """What tensors were before they could require gradients themselves."""

    def __new__(cls, data, requires_grad=False, volatile=False):
        made = data.detach()
        return made.requires_grad_() if requires_grad else made


class _Detect:
    def __init__(self, *args, **kwargs):
        pass

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        return False


detect_anomaly = set_detect_anomaly = _Detect


class profiler:
    """torch.autograd.profiler."""

    from torch.profiler import profile, record_function


from torch.autograd import function, graph
from torch.autograd.function import Function
from torch.autograd.gradcheck import gradcheck, gradgradcheck


__getattr__ = _missing.names("torch.autograd", globals())
