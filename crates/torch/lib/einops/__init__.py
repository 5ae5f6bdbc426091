"""einops: shapes by names. A pattern becomes reshape, permute, a reduction and expand."""

from torch import _C
from torch._C import Tensor

_ops = _C._ops


class EinopsError(RuntimeError):
    pass


def _axes(side):
    """The groups of one side of a pattern: lists of names in brackets, tuples of one name without."""
    groups, current, depth = [], None, 0
    for word in side.replace("(", " ( ").replace(")", " ) ").replace("…", "...").split():
        if word == "(":
            if current is not None:
                raise EinopsError(f"Axis composition is one-level (brackets inside brackets not allowed): {side}")
            current = []
        elif word == ")":
            if current is None:
                raise EinopsError(f"Brackets are not balanced in {side!r}")
            groups.append(current)
            current = None
        else:
            if not (word == "..." or word.isdigit() or word.isidentifier()):
                raise EinopsError(f"Invalid axis identifier: {word}")
            if current is None:
                groups.append((word,))
            else:
                current.append(word)
    if current is not None:
        raise EinopsError(f"Brackets are not balanced in {side!r}")
    return groups


def _sides(pattern):
    if "->" not in pattern:
        raise EinopsError(f"Pattern {pattern!r} has no '->'")
    left, right = pattern.split("->")
    return _axes(left), _axes(right)


def _prod(values):
    n = 1
    for v in values:
        n *= v
    return n


class _Plan:
    """The sizes of all names of the left side for a shape."""

    def __init__(self, left, shape, lengths):
        shape = list(shape)
        n = sum([1 for g in left if "..." not in g])
        rest = len(shape) - n
        if any("..." in g for g in left):
            if rest < 0:
                raise EinopsError(f"Wrong shape: expected >={n} dims. Received {len(shape)}-dim tensor.")
        elif rest != 0:
            raise EinopsError(f"Wrong shape: expected {n} dims. Received {len(shape)}-dim tensor.")
        self.sizes, self.order, self.rest, at = dict(lengths), [], [], 0
        for group in left:
            if "..." in group:
                self.rest = [f"...{i}" for i in range(rest)]
                for name, size in zip(self.rest, shape[at:at + rest]):
                    self.sizes[name] = size
                self.order += self.rest
                at += rest
                continue
            self._group(group, shape[at])
            at += 1

    def _group(self, group, size):
        unknown, known = [], 1
        for i, name in enumerate(group):
            if name.isdigit():
                name = f"{name}#{len(self.order)}"
                self.sizes[name] = int(name.split("#")[0])
            if name in self.order:
                raise EinopsError(f"Indexing expression contains duplicate dimension {name!r}")
            self.order.append(name)
            if name in self.sizes:
                known *= self.sizes[name]
            else:
                unknown.append(name)
        if len(unknown) > 1:
            raise EinopsError(f"Could not infer sizes for {set(unknown)}")
        if unknown:
            if known == 0 or size % known:
                raise EinopsError(f"Shape mismatch, can't divide axis of length {size} in chunks of {known}")
            self.sizes[unknown[0]] = size // known
        elif known != size:
            raise EinopsError(f"Shape mismatch, {size} != {known}")


def _expanded(groups, rest):
    return [[n for name in group for n in (rest if name == "..." else [name])] for group in groups]


def _run(tensor, pattern, reduction, lengths, repeats=False):
    try:
        return _transformed(tensor, pattern, reduction, lengths, repeats)
    except EinopsError as error:
        name = "repeat" if repeats else "rearrange" if reduction is None else reduction
        message = f' Error while processing {name}-reduction pattern "{pattern}".\n '
        message += "Input is list. " if isinstance(tensor, list) else f"Input tensor shape: {tensor.shape}. "
        raise EinopsError(message + f"Additional info: {lengths}.\n {error}")


def _transformed(tensor, pattern, reduction, lengths, repeats):
    if isinstance(tensor, (list, tuple)):
        tensor = _stacked(tensor)
    left, right = _sides(pattern)
    if reduction is None and not repeats:
        sides = [{n for group in side for n in group if not n.isdigit()} for side in (left, right)]
        if sides[0] ^ sides[1]:
            raise EinopsError(f"Identifiers only on one side of expression (should be on both): {sides[0] ^ sides[1]}")
    plan = _Plan(left, tensor.shape, lengths)
    out = []
    for group in right:
        if group == ("...",):
            out += [[n] for n in plan.rest]
        else:
            out.append(_expanded([group], plan.rest)[0])
    names = [n for group in out for n in group]
    fresh = []
    for name in names:
        if name.isdigit():
            continue
        if name not in plan.order:
            if not repeats:
                raise EinopsError(f"Identifiers only on one side of expression (should be on both): {{{name!r}}}")
            if name not in plan.sizes:
                raise EinopsError(f"Specify sizes for new axes in repeat: {name}")
            fresh.append(name)
    if len(set(names)) != len([n for n in names if not n.isdigit()]) + len({n for n in names if n.isdigit()}):
        raise EinopsError(f"Indexing expression contains duplicate dimension")
    gone = [n for n in plan.order if n not in names]
    if reduction is None and any(plan.sizes[n] != 1 or not n[0].isdigit() for n in gone):
        raise EinopsError(f"Identifiers only on one side of expression (should be on both): {set(gone)}")
    for name in lengths:
        if name not in plan.order and name not in fresh:
            raise EinopsError(f"Axis {name} is not used in transform")
    x = tensor.reshape([plan.sizes[n] for n in plan.order])
    kept = [n for n in names if n in plan.order]
    if kept + gone:
        # NumPy's arrays stay what they are, with all of their digits.
        x = (x.permute if isinstance(x, Tensor) else x.transpose)([plan.order.index(n) for n in kept + gone])
    if gone:
        dims = list(range(len(kept), len(kept) + len(gone)))
        x = x.reshape([plan.sizes[n] for n in kept]) if reduction is None else _reduced(x, reduction, dims)
    sizes, shape = [], []
    for n in names:
        plain = int(n) if n.isdigit() else 1 if n in fresh else plan.sizes[n]
        shape.append(1 if n.isdigit() else plain)
        sizes.append(int(n) if n.isdigit() else plan.sizes[n])
    x = x.reshape(shape)
    if shape != sizes:
        x = x.expand(sizes) if isinstance(x, Tensor) else _numpy().broadcast_to(x, sizes)
    return x.reshape([_prod([int(n) if n.isdigit() else plan.sizes[n] for n in group]) for group in out])


def _numpy():
    import numpy
    return numpy


def _reduced(x, reduction, dims):
    if callable(reduction):
        return reduction(x, tuple(dims))
    if not isinstance(x, Tensor) and reduction in ("mean", "sum", "max", "min", "prod", "any", "all"):
        return _numpy().asarray(getattr(x, reduction)(tuple(dims)))
    if reduction in ("mean", "sum"):
        return _ops[reduction](x, dims)
    if reduction in ("max", "min"):
        return _ops["a" + reduction](x, dims)
    if reduction == "prod":
        for d in reversed(dims):
            x = _ops["prod"](x, d)
        return x
    if reduction in ("any", "all"):
        for d in reversed(dims):
            x = _ops[reduction](x, d)
        return x
    raise EinopsError(f"Unknown reduction {reduction!r}. Expect one of ('min', 'max', 'sum', 'mean', 'prod', 'any', 'all').")


def _stacked(tensors):
    if isinstance(tensors[0], Tensor):
        return _ops["stack"](list(tensors))
    return _numpy().stack(tensors)


def rearrange(tensor, pattern, **axes_lengths):
    return _run(tensor, pattern, None, axes_lengths)


def reduce(tensor, pattern, reduction, **axes_lengths):
    if reduction in ("rearrange", "repeat"):
        return _run(tensor, pattern, None, axes_lengths, reduction == "repeat")
    return _run(tensor, pattern, reduction, axes_lengths)


def repeat(tensor, pattern, **axes_lengths):
    return _run(tensor, pattern, None, axes_lengths, True)


def parse_shape(x, pattern):
    return {name: n for name, n in zip(pattern.split(), x.shape) if name != "_"}


def einsum(*args):
    *tensors, pattern = args
    left, right = pattern.split("->")
    letters, known = {}, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

    def short(part):
        return "".join(["..." if w == "..." else letters.setdefault(w, known[len(letters)]) for w in part.split()])
    equation = ",".join([short(part) for part in left.split(",")]) + "->" + short(right)
    return _ops["einsum"](list(tensors), equation) if isinstance(tensors[0], Tensor) else _numpy().einsum(equation, *tensors)


def pack(tensors, pattern):
    words = pattern.split()
    at = words.index("*")
    after = len(words) - at - 1
    shapes, flat = [], []
    for t in tensors:
        if t.ndim < len(words) - 1:
            raise EinopsError(f"packed tensor #{len(flat)} has shape {tuple(t.shape)}, while pattern {pattern} assumes at least "
                              f"{len(words) - 1} axes")
        end = t.ndim - after
        shapes.append(t.shape[at:end])
        flat.append(t.reshape(list(t.shape[:at]) + [-1] + list(t.shape[end:])))
    return _ops["cat"](flat, at) if isinstance(flat[0], Tensor) else _numpy().concatenate(flat, at), shapes


def unpack(tensor, packed_shapes, pattern):
    at = pattern.split().index("*")
    sizes = [_prod(s) if -1 not in list(s) else -1 for s in packed_shapes]
    if -1 in sizes:
        sizes[sizes.index(-1)] = tensor.shape[at] - sum([n for n in sizes if n != -1])
    out, start = [], 0
    for n, shape in zip(sizes, packed_shapes):
        part = tensor[(slice(None),) * at + (slice(start, start + n),)]
        out.append(part.reshape(list(tensor.shape[:at]) + list(shape) + list(tensor.shape[at + 1:])))
        start += n
    return out


def asnumpy(tensor):
    return tensor.numpy()
