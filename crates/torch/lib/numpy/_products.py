"""Products of arrays, by letters and axes too, and what is asked of one."""

import _numpy
from _numpy import ndarray
import builtins
import math
import numpy as np

__all__ = """dot matmul outer shape ndim size copy isscalar may_share_memory inner vdot shares_memory
einsum tensordot kron cross""".split()


def _letters(subscripts, operands):
    if "..." in subscripts:
        ranks = [a.ndim for a in operands]
        inputs = subscripts.split("->")[0].split(",")
        spare = builtins.max([n - (len(part) - 3) for n, part in zip(ranks, inputs) if "..." in part])
        free = [c for c in "ABCDEFGHIJKLMNOPQRSTUVWXYZ" if c not in subscripts][:spare]
        parts = []
        for part, n in zip(inputs, ranks):
            own = n - (len(part) - 3) if "..." in part else 0
            parts.append(part.replace("...", "".join(free[spare - own:])))
        left, arrow, right = subscripts.partition("->")
        if arrow:
            right = right.replace("...", "".join(free))
        else:
            plain = left.replace("...", "").replace(",", "")
            right = "".join(free) + "".join(sorted([c for c in set(plain) if plain.count(c) == 1]))
        return ",".join(parts) + "->" + right
    if "->" not in subscripts:
        plain = subscripts.replace(",", "")
        return subscripts + "->" + "".join(sorted([c for c in set(plain) if plain.count(c) == 1]))
    return subscripts


def einsum(subscripts, *operands, optimize=False, **others):
    """Pairs from the left; letters that neither the result nor another operand has are summed as soon as they can be."""
    if not isinstance(subscripts, str):
        # Operands and lists of numbers by turns, and those of the result.
        given, places = (subscripts, *operands), "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
        form = lambda axes: "".join(["..." if d is Ellipsis else places[d] for d in axes])
        pairs = len(given) // 2
        subscripts = ",".join([form(axes) for axes in given[1:2 * pairs:2]]) + ("->" + form(given[-1]) if len(given) % 2 else "")
        operands = given[:2 * pairs:2]
    arrays = [np._as(a) for a in operands]
    left, right = _letters(subscripts.replace(" ", ""), arrays).split("->")
    terms = [_diagonals(t, a) for t, a in zip(left.split(","), arrays)]
    sizes = {}
    for names, a in terms:
        for c, n in zip(names, a.shape):
            if sizes.setdefault(c, n) != n and n != 1:
                if sizes[c] != 1:
                    raise ValueError(f"operands could not be broadcast together with remapped shapes: size {n} and {sizes[c]} of '{c}'")
                sizes[c] = n
    while len(terms) > 1:
        (xs, x), (ys, y) = terms[0], terms[1]
        kept = set(right)
        for names, _ in terms[2:]:
            kept |= set(names)
        terms = [_contracted(xs, x, ys, y, kept)] + terms[2:]
    names, a = terms[0]
    gone = tuple([i for i, c in enumerate(names) if c not in right])
    a = a.sum(gone) if gone else a
    names = "".join([c for c in names if c in right])
    a = np._as(a)
    return np.transpose(a, [names.index(c) for c in right]) if names else a[()]


def _diagonals(names, a):
    for c in dict.fromkeys(names):
        while names.count(c) > 1:
            i = names.index(c)
            j = names.index(c, i + 1)
            order = [k for k in range(a.ndim) if k not in (i, j)] + [i, j]
            moved = np.transpose(a, order)
            n = moved.shape[-1]
            a = moved.reshape(moved.shape[:-2] + (n * n,))[..., ::n + 1]
            names = "".join([x for k, x in enumerate(names) if k not in (i, j)]) + c
    return names, a


def _contracted(xs, x, ys, y, kept):
    both = [c for c in xs if c in ys]
    batch = [c for c in both if c in kept]
    summed = [c for c in both if c not in kept]
    for names in (xs, ys):
        gone = [c for c in names if c not in both and c not in kept]
        if gone and names is xs:
            x = np._as(x.sum(tuple([xs.index(c) for c in gone])))
            xs = "".join([c for c in xs if c not in gone])
        elif gone:
            y = np._as(y.sum(tuple([ys.index(c) for c in gone])))
            ys = "".join([c for c in ys if c not in gone])
    rows, columns = [c for c in xs if c not in both], [c for c in ys if c not in both]
    size = {c: n for c, n in zip(xs + ys, x.shape + y.shape)}
    x = np.transpose(x, [xs.index(c) for c in batch + rows + summed])
    y = np.transpose(y, [ys.index(c) for c in batch + summed + columns])

    def shape(*groups):
        return tuple([math.prod([size[c] for c in g]) for g in groups])
    lead = tuple([size[c] for c in batch])
    made = x.reshape(lead + shape(rows, summed)) @ y.reshape(lead + shape(summed, columns))
    return "".join(batch + rows + columns), made.reshape(lead + tuple([size[c] for c in rows + columns]))


def tensordot(a, b, axes=2):
    a, b = np._as(a), np._as(b)
    if isinstance(axes, int):
        left, right = list(range(a.ndim - axes, a.ndim)), list(range(axes))
    else:
        left, right = [[d] if isinstance(d, int) else list(d) for d in axes]
    left, right = [d % a.ndim for d in left], [d % b.ndim for d in right]
    rows = [d for d in range(a.ndim) if d not in left]
    columns = [d for d in range(b.ndim) if d not in right]
    n = math.prod([a.shape[d] for d in left])
    x, y = np.transpose(a, rows + left).reshape(-1, n), np.transpose(b, right + columns).reshape(n, -1)
    made = (x[:, :, None] * y[None]).sum(1) if _complex(x, y) else x @ y
    made = np._as(made).reshape(tuple([a.shape[d] for d in rows] + [b.shape[d] for d in columns]))
    return made if made.ndim else np._scalar(made[()])


def kron(a, b):
    a, b = np._as(a), np._as(b)
    rank = builtins.max(a.ndim, b.ndim)
    a, b = [v.reshape((1,) * (rank - v.ndim) + v.shape) for v in (a, b)]
    sizes = [n for pair in zip(a.shape, b.shape) for n in pair]
    made = a.reshape([n if d % 2 == 0 else 1 for d, n in enumerate(sizes)]) * b.reshape([n if d % 2 else 1 for d, n in enumerate(sizes)])
    return made.reshape([n * m for n, m in zip(a.shape, b.shape)])


def cross(a, b, axisa=-1, axisb=-1, axisc=-1, axis=None):
    axisa, axisb, axisc = (axisa, axisb, axisc) if axis is None else (axis, axis, axis)
    a, b = np.moveaxis(np._as(a), axisa, 0), np.moveaxis(np._as(b), axisb, 0)
    if a.shape[0] != 3 or b.shape[0] != 3:
        raise ValueError(f"Both input arrays must be (arrays of) 3-dimensional vectors, but they are {a.shape[0]} and {b.shape[0]} dimensional instead.")
    return np.moveaxis(np.stack([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]), 0, axisc)


def _complex(*arrays):
    return any([getattr(a, "dtype", None) is not None and a.dtype.kind in "cO" for a in arrays])


def dot(a, b, out=None):
    a, b = np._as(a), np._as(b)
    if not a.ndim or not b.ndim:
        return np._given(np.multiply(a, b), out, None)
    if b.ndim > 2 or _complex(a, b):
        return np._given(tensordot(a, b, ((a.ndim - 1,), (builtins.max(b.ndim - 2, 0),))), out, None)
    return np._given(np._scalar(_numpy.matmul(a, b)), out, None)


def matmul(a, b, out=None, dtype=None):
    a, b = np._as(a), np._as(b)
    if _complex(a, b):
        if a.ndim > 2 or b.ndim > 2:
            raise NotImplementedError("numpy.matmul of batches of complex matrices")
        return dot(a, b)
    return np._given(np._scalar(_numpy.matmul(a, b)), out, dtype)


def inner(a, b):
    a, b = np._as(a), np._as(b)
    return np.multiply(a, b) if not a.ndim or not b.ndim else tensordot(a, b, ((a.ndim - 1,), (b.ndim - 1,)))


def vdot(a, b):
    a, b = np._as(a), np._as(b)
    return dot(a.reshape(-1).conj(), b.reshape(-1))


def outer(a, b, out=None):
    return np._given(np._as(a).reshape(-1, 1) * np._as(b).reshape(1, -1), out, None)


def shape(a):
    return a.shape if hasattr(a, "shape") else np._as(a).shape


def ndim(a):
    return np._as(a).ndim


def size(a, axis=None):
    return np._as(a).size if axis is None else math.prod([np._as(a).shape[d] for d in (axis if isinstance(axis, tuple) else (axis,))])


def copy(a):
    return np.array(a)


def isscalar(x):
    element = isinstance(x, ndarray) and type(x) is not ndarray
    return element or isinstance(x, (builtins.int, builtins.float, str, builtins.bool))


def may_share_memory(a, b):
    return _numpy.shares(a, b)


shares_memory = may_share_memory
