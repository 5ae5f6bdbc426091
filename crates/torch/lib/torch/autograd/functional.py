"""Derivatives of functions of tensors: rows of Jacobians by walks backward."""

from torch import _C

_ops = _C._ops


def _tuple(inputs):
    return (inputs, True) if isinstance(inputs, tuple) else ((inputs,), False)


def _prepared(inputs):
    return tuple([x.detach().requires_grad_() if not x.requires_grad else x for x in inputs])


def jacobian(func, inputs, create_graph=False, strict=False, vectorize=False, strategy="reverse-mode"):
    args, many = _tuple(inputs)
    args = args if create_graph and all(x.requires_grad for x in args) else _prepared([x.detach() for x in args])
    outputs = func(*args)
    several = isinstance(outputs, tuple)
    rows = tuple([_rows(y, args, create_graph) for y in (outputs if several else (outputs,))])
    rows = rows if many else tuple([r[0] for r in rows])
    return rows if several else rows[0]


def _rows(y, args, create_graph):
    """For each argument the tensor [*y, *x] of derivatives."""
    from torch.autograd import grad
    parts = [[] for _ in args]
    flat = y.reshape(-1)
    for i in range(flat.shape[0]):
        if y.requires_grad:
            found = grad(flat[i], args, retain_graph=True, create_graph=create_graph, allow_unused=True)
        else:
            found = [None] * len(args)
        for part, g, x in zip(parts, found, args):
            part.append(x.detach() * 0 if g is None else g)
    return tuple([_ops["stack"](part).reshape(list(y.shape) + list(x.shape)) for part, x in zip(parts, args)])


def hessian(func, inputs, create_graph=False, strict=False, vectorize=False, outer_jacobian_strategy="reverse-mode"):
    args, many = _tuple(inputs)

    def first(*xs):
        found = jacobian(func, xs if many else xs[0], create_graph=True)
        return found
    xs = _prepared([x.detach() for x in args])
    return jacobian(first, xs if many else xs[0], create_graph=create_graph)


def vjp(func, inputs, v=None, create_graph=False, strict=False):
    from torch.autograd import grad
    args, many = _tuple(inputs)
    args = _prepared([x.detach() for x in args])
    y = func(*args)
    found = grad(y, args, v, create_graph=create_graph, allow_unused=True, materialize_grads=True)
    return (y if create_graph else y.detach()), (found if many else found[0])


def jvp(func, inputs, v=None, create_graph=False, strict=False):
    from torch.func import jvp as forward
    args, many = _tuple(inputs)
    tangents = _tuple(v)[0] if v is not None else tuple([x * 0 + 1 for x in args])
    return forward(func, args, tangents)


def hvp(func, inputs, v=None, create_graph=False, strict=False):
    from torch.autograd import grad
    args, many = _tuple(inputs)
    args = _prepared([x.detach() for x in args])
    y = func(*args)
    first = grad(y, args, create_graph=True)
    vs = _tuple(v)[0] if v is not None else tuple([x.detach() * 0 + 1 for x in args])
    found = grad(first, args, list(vs), allow_unused=True, materialize_grads=True)
    return y.detach(), (found if many else found[0])


vhp = hvp
