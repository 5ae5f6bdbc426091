"""torch.utils._pytree: nested containers as lists of their leaves and back."""


def tree_flatten(tree):
    leaves = []
    spec = _walk(tree, leaves)
    return leaves, spec


def _walk(tree, leaves):
    if isinstance(tree, dict):
        return type(tree), list(tree), [_walk(v, leaves) for v in tree.values()]
    if isinstance(tree, (list, tuple)):
        return type(tree), None, [_walk(v, leaves) for v in tree]
    leaves.append(tree)
    return None


def tree_unflatten(leaves, treespec):
    return _built(treespec, iter(leaves))


def _built(spec, leaves):
    if spec is None:
        return next(leaves)
    kind, keys, parts = spec
    values = [_built(p, leaves) for p in parts]
    if keys is not None:
        return kind(zip(keys, values))
    return kind(*values) if hasattr(kind, "_fields") else kind(values)


def tree_leaves(tree):
    return tree_flatten(tree)[0]


def tree_map(func, tree, *rests):
    leaves, spec = tree_flatten(tree)
    others = [tree_leaves(r) for r in rests]
    return tree_unflatten([func(*v) for v in zip(leaves, *others)], spec)


def tree_map_only(kind, func, tree):
    return tree_map(lambda v: func(v) if isinstance(v, kind) else v, tree)
