"""Derivatives of functions of tensors: rows of Jacobians by walks backward."""

from torch import _C
from torch._C import Tensor
from torch.autograd import enable_grad

_ops = _C._ops
_STRICT = "This is not allowed in strict mode"


def _tuple(given, what, name):
    values = given if isinstance(given, tuple) else (given,)
    for i, value in enumerate(values):
        if not isinstance(value, Tensor):
            which = f"value at index {i}" if isinstance(given, tuple) else f"given {what}"
            raise TypeError(f"The {what} given to {name} must be either a Tensor or a tuple of Tensors but the {which} has type {type(value)}.")
    return values


def _prepared(values, create, wanted=True):
    """The tape begins at the arguments, unless it goes on behind them."""
    return tuple([x.view_as(x) if create and x.requires_grad else x.detach().requires_grad_(wanted) for x in values])


def _called(func, inputs, name, create, strict):
    args = _prepared(_tuple(inputs, "inputs", name), create)
    made = func(*args)
    outputs = _tuple(made, "outputs of the user-provided function", name)
    _refuse_constants(outputs, strict, "Output {i} of the user-provided function does not require gradients. The outputs must be computed in a "
                                       "differentiable manner from the input when running in strict mode.")
    return args, made, outputs


def _single(func, inputs, name, create, strict):
    args, made, _ = _called(func, inputs, name, create, strict)
    if isinstance(made, tuple):
        raise RuntimeError(f"The function given to {name} should return a single Tensor")
    if made.numel() != 1:
        raise RuntimeError(f"The Tensor returned by the function given to {name} should contain a single element")
    return args, made.squeeze()


def _refuse_constants(values, strict, words):
    for i, v in enumerate(values if strict else ()):
        if not v.requires_grad:
            raise RuntimeError(words.format(i=i))


def _grad(outputs, inputs, given=None, create=False, keep=None):
    from torch.autograd import grad
    pairs = [(y, g) for y, g in zip(outputs, given or [None] * len(outputs)) if y.requires_grad]
    if not pairs:
        return [None] * len(inputs)
    return grad([y for y, _ in pairs], inputs, [g for _, g in pairs], keep, create, allow_unused=True)


def _filled(found, inputs, strict, create, missing, constant, kept=False):
    for i, g in enumerate(found if strict else ()):
        if g is None or create and not g.requires_grad:
            raise RuntimeError((missing if g is None else constant).format(i=i))
    found = [x.detach() * 0 if g is None else g for g, x in zip(found, inputs)]
    return tuple(found if create or kept else [g.detach() for g in found])


def _vectors(v, others, name, create, several, none):
    if v is None:
        if len(others) != 1 or others[0].numel() != 1:
            raise RuntimeError(f"The vector v can only be None if {none}.")
        return None
    v = _prepared(_tuple(v, "v", name), create, False)
    if len(v) != len(others):
        raise RuntimeError(f"v is a tuple of invalid length: should be {len(others)} but got {len(v)}." if several
                           else "The given v should contain a single Tensor.")
    for i, (a, b) in enumerate(zip(v, others)):
        if a.shape != b.shape:
            raise RuntimeError(f"{f'Entry {i} in ' if several else ''}v has invalid size: should be {b.shape} but got {a.shape}.")
    return v


def _shown(made, create):
    return made if create else tuple([y.detach() for y in made]) if isinstance(made, tuple) else made.detach()


_OUTPUT = "The output of the user-provided function is independent of input {i}. " + _STRICT + "."
_JACOBIAN = "The jacobian of the user-provided function is independent of input {i}. " + _STRICT
_HESSIAN = "The hessian of the user-provided function is independent of "
_LINEAR = ("While computing the hessian, found that the jacobian of the user-provided function with respect to input {i} is independent of the "
           "input. " + _STRICT + ". You should ensure that your function is twice differentiable and that the jacobian depends on the inputs "
           "(this would be violated by a linear function for example).")
_INPUT = "the input to the user-provided function is a single Tensor with a single element"


@enable_grad()
def jacobian(func, inputs, create_graph=False, strict=False, vectorize=False, strategy="reverse-mode"):
    if strict and vectorize:
        raise RuntimeError("torch.autograd.functional.jacobian: `strict=True` and `vectorized=True` are not supported together. Please either "
                           "set `strict=False` or `vectorize=False`.")
    args, made, outputs = _called(func, inputs, "jacobian", create_graph, strict)
    rows = []
    for i, y in enumerate(outputs):
        parts, flat = [[] for _ in args], y.reshape(-1)
        for j in range(flat.shape[0]):
            found = _filled(_grad([flat[j]], args, None, create_graph, True), args, strict, create_graph,
                            f"Output {i} of the user-provided function is independent of input {{i}}. {_STRICT}.",
                            _JACOBIAN + " when create_graph=True.")
            for part, g in zip(parts, found):
                part.append(g)
        rows.append(tuple([_ops["stack"](part).reshape(list(y.shape) + list(x.shape)) if part else _C.full(list(y.shape) + list(x.shape), 0.0)
                           for part, x in zip(parts, args)]))
    rows = tuple(rows if isinstance(inputs, tuple) else [r[0] for r in rows])
    return rows if isinstance(made, tuple) else rows[0]


def hessian(func, inputs, create_graph=False, strict=False, vectorize=False, outer_jacobian_strategy="reverse-mode"):
    args = _tuple(inputs, "inputs", "hessian")

    def gradient(*xs):
        found = jacobian(lambda *ys: _single(func, ys, "hessian", True, strict)[1], xs, True)
        _refuse_constants(found, strict, _LINEAR)
        return found
    found = jacobian(gradient, args, create_graph, strict, vectorize)
    return found if isinstance(inputs, tuple) else found[0][0]


@enable_grad()
def vjp(func, inputs, v=None, create_graph=False, strict=False):
    args, made, outputs = _called(func, inputs, "vjp", create_graph, strict)
    v = _vectors(v, outputs, "vjp", create_graph, isinstance(made, tuple), "the user-provided function returns a single Tensor with a single "
                                                                           "element")
    found = _filled(_grad(outputs, args, v, create_graph), args, strict, create_graph, _OUTPUT, _JACOBIAN + " when create_graph=True.")
    return _shown(made, create_graph), (found if isinstance(inputs, tuple) else found[0])


@enable_grad()
def jvp(func, inputs, v=None, create_graph=False, strict=False):
    args = _tuple(inputs, "inputs", "jvp")
    v = _vectors(v, args, "jvp", create_graph, isinstance(inputs, tuple), _INPUT)
    args, made, outputs = _called(func, inputs, "jvp", create_graph, strict)
    # The gradient is linear in what it is multiplied with: its derivative by that is the Jacobian again.
    factors = [(y.detach() * 0).requires_grad_() for y in outputs]
    first = _filled(_grad(outputs, args, factors, True), args, strict, False, _OUTPUT, "", True)
    _refuse_constants(first, strict, "The gradient with respect to input {i} is independent of the inputs of the user-provided function. "
                                     + _STRICT + ".")
    found = _filled(_grad(first, factors, v, create_graph), outputs, strict, create_graph,
                    "The gradient with respect to the input is independent of entry {i} in the grad_outputs when using the double backward trick "
                    "to compute forward mode gradients. " + _STRICT + ".", _JACOBIAN + " when create_graph=True.")
    return _shown(made, create_graph), (found if isinstance(made, tuple) else found[0])


def _product(name, missing):
    @enable_grad()
    def product(func, inputs, v=None, create_graph=False, strict=False):
        args, y = _single(func, inputs, name, create_graph, strict)
        v = _vectors(v, args, name, create_graph, isinstance(inputs, tuple), _INPUT)
        first = _filled(_grad([y], args, None, True), args, strict, True, _OUTPUT, _LINEAR)
        found = _filled(_grad(first, args, v, create_graph), args, strict, create_graph, missing,
                        _HESSIAN + "input {i}. " + _STRICT + " when create_graph=True.")
        return _shown(y, create_graph), (found if isinstance(inputs, tuple) else found[0])
    product.__name__ = product.__qualname__ = name
    return product


# A Hessian is symmetric: both are one walk backward along the gradient.
vhp = _product("vhp", _JACOBIAN + ".")
hvp = _product("hvp", _HESSIAN + "entry {i} in the grad_jacobian. " + _STRICT + " as it prevents from using the double backward trick to replace "
                                 "forward mode AD.")
