"""Transformations of functions: derivatives by walks backward, `vmap` by one call for each item."""

from torch import _C
from torch._C import Tensor

_ops = _C._ops
# How many derivatives are being taken around the present call.
_level = [0]
# The leaves that were made for them.
_made = []


def _map(f, tree, *others):
    """`f` of the tensors of nested containers."""
    if isinstance(tree, (tuple, list)):
        made = [_map(f, *items) for items in zip(tree, *others)]
        if isinstance(tree, tuple) and hasattr(tree, "_fields"):
            return type(tree)(*made)
        return tuple(made) if isinstance(tree, tuple) else made
    if isinstance(tree, dict):
        return {k: _map(f, v, *[o[k] for o in others]) for k, v in tree.items()}
    return f(tree, *others)


def _leaves(tree):
    if isinstance(tree, (tuple, list)):
        return [x for t in tree for x in _leaves(t)]
    if isinstance(tree, dict):
        return [x for t in tree.values() for x in _leaves(t)]
    return [tree]


def _fresh(x):
    """A tensor of its own place in the differentiation, still joined to the one around."""
    if not isinstance(x, Tensor) or not x.dtype.is_floating_point:
        return x
    if x.requires_grad:
        return _ops["reshape"](x, list(x.shape))
    made = x.detach().requires_grad_()
    _made.append(made)
    return made


def _kept(tree, made):
    """Outside of all derivatives, results that depend on nothing but the leaves made for them have no gradients."""
    def of(x):
        own = isinstance(x, Tensor) and x.requires_grad and not (_C.is_grad_enabled() and _C.reaches_others(x, made))
        return x.detach() if own else x
    return tree if _level[0] > 0 else _map(of, tree)


def _gradients(y, xs, v=None):
    """Gradients of a tensor for the tensors of a tree, which stay differentiable."""
    from torch.autograd import grad
    flat = [x for x in _leaves(xs) if isinstance(x, Tensor) and x.requires_grad]
    found = iter(grad(y, flat, v, create_graph=True, allow_unused=True, materialize_grads=True) if y.requires_grad else [
        x.detach() * 0 for x in flat])
    return _map(lambda x: next(found) if isinstance(x, Tensor) and x.requires_grad else x, xs)


def _scope(function):
    """Runs with recording on, one level further in."""
    def wrapped(*args, **kwargs):
        before = _C.set_grad_enabled(True)
        first = len(_made)
        _level[0] += 1
        try:
            found = function(*args, **kwargs)
        finally:
            _level[0] -= 1
            _C.set_grad_enabled(before)
            made = _made[first:]
            if _level[0] == 0:
                del _made[first:]
        return _kept(found, made)
    return wrapped


def grad_and_value(func, argnums=0, has_aux=False):
    def run(*args, **kwargs):
        args = list(args)
        numbers = argnums if isinstance(argnums, tuple) else (argnums,)
        for i in numbers:
            args[i] = _map(_fresh, args[i])
        made = func(*args, **kwargs)
        y, aux = made if has_aux else (made, None)
        if y.dim() != 0:
            raise RuntimeError(f"grad_and_value(f)(*args): Expected f(*args) to return a scalar Tensor, got tensor with {y.dim()} dims. Maybe you wanted "
                               "to use the vjp or jacrev APIs instead?")
        found = _gradients(y, tuple([args[i] for i in numbers]))
        found = found if isinstance(argnums, tuple) else found[0]
        return (found, (y, aux)) if has_aux else (found, y)
    return _scope(run)


def grad(func, argnums=0, has_aux=False):
    both = grad_and_value(func, argnums, has_aux)

    def run(*args, **kwargs):
        found, value = both(*args, **kwargs)
        return (found, value[1]) if has_aux else found
    return run


def vjp(func, *primals, has_aux=False):
    def run():
        xs = _map(_fresh, primals)
        made = func(*xs)
        return xs, made
    before = _C.set_grad_enabled(True)
    first = len(_made)
    try:
        xs, made = run()
    finally:
        _C.set_grad_enabled(before)
        leaves = _made[first:]
        if _level[0] == 0:
            del _made[first:]
    y, aux = made if has_aux else (made, None)

    def pull(*cotangents):
        given = _leaves(cotangents)
        total = sum([(a * b).sum() for a, b in zip(_leaves(y), given)])
        return _kept(_gradients(total, xs), leaves)
    return (_kept(y, leaves), pull, aux) if has_aux else (_kept(y, leaves), pull)


def jvp(func, primals, tangents, *, strict=False, has_aux=False):
    """Forward mode by two walks backward: the gradient is linear in the cotangent, and its own gradient is the product."""
    for name, given in (("primals", primals), ("tangents", tangents)):
        if not isinstance(given, tuple):
            raise RuntimeError(f"jvp(f, primals, tangents): Expected {name} to be a tuple. E.g. it should be valid to call f(*primals).")

    def run():
        xs = _map(_fresh, tuple(primals))
        made = func(*xs)
        y, aux = made if has_aux else (made, None)
        outs = []
        for out in _leaves(y):
            u = _fresh(out.detach() * 0)
            pulled = _leaves(_gradients((out * u).sum(), xs))
            total = sum([(a * b).sum() for a, b in zip(pulled, _leaves(tuple(tangents)))])
            outs.append(_gradients(total, (u,))[0] if total.requires_grad else out.detach() * 0)
        moved = iter(outs)
        product = _map(lambda x: next(moved), y)
        return (y, product, aux) if has_aux else (y, product)
    return _scope(run)()


def jacrev(func, argnums=0, *, has_aux=False, chunk_size=None):
    def run(*args, **kwargs):
        args = list(args)
        numbers = argnums if isinstance(argnums, tuple) else (argnums,)
        for i in numbers:
            args[i] = _map(_fresh, args[i])
        made = func(*args, **kwargs)
        y, aux = made if has_aux else (made, None)

        def of(out):
            rows = [_gradients(out.reshape(-1)[i], tuple([args[k] for k in numbers])) for i in range(out.numel())]
            joined = _map(lambda *gs: _ops["stack"](list(gs)), *rows)
            joined = _map(lambda g: g.reshape(list(out.shape) + list(g.shape[1:])), joined)
            return joined if isinstance(argnums, tuple) else joined[0]
        found = _map(of, y)
        return (found, aux) if has_aux else found
    return _scope(run)


def jacfwd(func, argnums=0, has_aux=False, *, chunk_size=None, randomness="error"):
    return jacrev(func, argnums, has_aux=has_aux)


def linearize(func, *primals):
    """The value at `primals`, and the derivative there as a function of tangents."""
    return func(*primals), lambda *tangents: jvp(func, primals, tangents)[1]


def hessian(func, argnums=0):
    return jacfwd(jacrev(func, argnums), argnums)


def vmap(func, in_dims=0, out_dims=0, randomness="error", *, chunk_size=None):
    def run(*args, **kwargs):
        dims = in_dims if isinstance(in_dims, (tuple, list)) else (in_dims,) * len(args)
        if len(dims) != len(args):
            raise ValueError(f"vmap: in_dims has {len(dims)} entries, but the function is called with {len(args)} arguments")
        sizes = set()

        def spread(x, dim):
            if isinstance(x, (tuple, list, dict)):
                each = [dim] * len(x) if not isinstance(dim, (tuple, list, dict)) else dim
                if isinstance(x, dict):
                    return {k: spread(v, dim[k] if isinstance(dim, dict) else dim) for k, v in x.items()}
                return type(x)([spread(v, d) for v, d in zip(x, each)])
            if dim is None:
                return None
            if not isinstance(x, Tensor):
                raise ValueError(
                    f"vmap({getattr(func, '__name__', func)}, in_dims={in_dims}, ...)(<inputs>): Got in_dim={dim} for an input but the input "
                    f"is of type {type(x)}. We cannot vmap over non-Tensor arguments, please use None as the respective in_dim")
            if not -x.dim() <= dim < x.dim():
                raise ValueError(
                    f"vmap({getattr(func, '__name__', func)}, in_dims={in_dims}, ...)(<inputs>): Got in_dim={dim} for some input, but that "
                    f"input is a Tensor of dimensionality {x.dim()} so expected in_dim to satisfy -{x.dim()} <= in_dim < {x.dim()}.")
            sizes.add(x.shape[dim])
            return dim
        places = [spread(a, d) for a, d in zip(args, dims)]
        named = {k: spread(v, 0) for k, v in kwargs.items()}
        if len(sizes) != 1:
            raise ValueError(f"vmap: Expected all tensors to have the same size in the mapped dimension, got sizes "
                             f"{sorted(sizes)} for the mapped dimension")

        def item(x, dim, i):
            if isinstance(x, dict):
                return {k: item(v, dim[k], i) for k, v in x.items()}
            if isinstance(x, (tuple, list)):
                return type(x)([item(v, d, i) for v, d in zip(x, dim)])
            return x if dim is None else _ops["select"](x, dim, i)
        rows = [
            func(*[item(a, p, i) for a, p in zip(args, places)], **{k: item(v, named[k], i) for k, v in kwargs.items()})
            for i in range(list(sizes)[0])
        ]
        if isinstance(rows[0], tuple) and isinstance(out_dims, (tuple, list)):
            return tuple([_ops["stack"]([r[k] for r in rows], d) for k, d in enumerate(out_dims)])
        return _map(lambda *ys: _ops["stack"](list(ys), out_dims), *rows)
    return run


def functional_call(module, parameter_and_buffer_dicts, args=None, kwargs=None, *, tie_weights=True, strict=False):
    given = {}
    many = isinstance(parameter_and_buffer_dicts, (tuple, list))
    for part in parameter_and_buffer_dicts if many else [parameter_and_buffer_dicts]:
        given.update(part)
    kept = []
    try:
        for name, value in given.items():
            path, _, last = name.rpartition(".")
            owner = module.get_submodule(path)
            for kind in ("_parameters", "_buffers"):
                table = owner.__dict__[kind]
                if last in table:
                    kept.append((table, last, table[last]))
                    table[last] = value
                    break
            else:
                if strict:
                    raise RuntimeError(f"Unexpected key(s): {name}.")
        args = () if args is None else args if isinstance(args, tuple) else (args,)
        return module(*args, **(kwargs or {}))
    finally:
        for table, last, value in reversed(kept):
            table[last] = value


def stack_module_state(models):
    first = models[0]
    params = {n: _ops["stack"]([dict(m.named_parameters())[n].detach() for m in models]).requires_grad_()
              for n, _ in first.named_parameters()}
    buffers = {n: _ops["stack"]([dict(m.named_buffers())[n] for m in models]) for n, _ in first.named_buffers()}
    return params, buffers
