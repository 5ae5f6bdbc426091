"""Functions of torch: the operators of the table, and what PyTorch's Python layer adds to them."""

from torch import _C
from torch._C import Tensor
from collections import namedtuple as _namedtuple

_ops = _C._ops

# Rows that are functions of torch as they are.
_PLAIN = """
abs neg sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh exp exp2 expm1 log log2 log1p log10 sqrt rsqrt reciprocal erf erfc
erfinv lgamma digamma sinc logit sigmoid round frac sign isnan isinf isfinite nan_to_num floor ceil trunc square add sub rsub mul div
floor_divide fmod remainder pow maximum minimum atan2 copysign hypot logaddexp clamp lerp addcmul addcdiv masked_fill logical_not
logical_and logical_or logical_xor bitwise_and bitwise_or bitwise_xor bitwise_not bitwise_left_shift bitwise_right_shift eq ne lt le gt
ge sum mean prod amax amin logsumexp cumsum cumprod all any reshape flatten squeeze unsqueeze permute transpose t flip roll tile
repeat_interleave tril triu diagonal narrow select split chunk cat stack unbind unflatten movedim tensor_split meshgrid hstack vstack
dstack diff diag trace gather index_select scatter scatter_add index_add scatter_reduce index_copy index_fill
masked_scatter one_hot argsort argmax argmin searchsorted bucketize isin histc matmul mm bmm mv dot outer addmm baddbmm relu selu celu
softmax log_softmax cosine_similarity pairwise_distance cdist xlogy xlog1py rms_norm layer_norm batch_norm group_norm instance_norm
conv1d conv2d conv3d conv_transpose1d conv_transpose2d conv_transpose3d embedding grid_sampler prelu threshold pixel_shuffle
pixel_unshuffle std_mean var_mean tensordot kron cross cov corrcoef nanmean nansum
""".split()

_here = globals()
__all__ = []
for _name in _PLAIN:
    if _name in _ops:
        _here[_name] = _ops[_name]
        __all__.append(_name)

absolute = _ops["abs"]
negative = _ops["neg"]
multiply = _ops["mul"]
subtract = _ops["sub"]
divide = true_divide = _ops["div"]
arccos, arcsin, arctan = _ops["acos"], _ops["asin"], _ops["atan"]
greater, greater_equal, less, less_equal, not_equal = _ops["gt"], _ops["ge"], _ops["lt"], _ops["le"], _ops["ne"]
concat = concatenate = _ops["cat"]
clip = _ops["clamp"]
swapaxes = swapdims = _ops["transpose"]
moveaxis = _ops["movedim"]
row_stack = _ops["vstack"]
detach = Tensor.detach
__all__ += """absolute negative multiply subtract divide true_divide arccos arcsin arctan greater greater_equal less less_equal
not_equal concat concatenate clip swapaxes swapdims moveaxis row_stack detach max min sort topk where std var norm einsum cummax cummin
dropout clone nonzero masked_select unique unique_consecutive msort equal allclose isclose numel count_nonzero tensordot median kthvalue
is_nonzero std_mean var_mean broadcast_to broadcast_tensors atleast_1d atleast_2d ravel squeeze_ clamp_min
clamp_max take argwhere aminmax softmax_ dist cosine_embedding_loss typename quantile positive fliplr flipud vander
square_ scalar_tensor complex_ addmv ger inner mish_ feature_dropout relu_ column_stack empty_ trapezoid heaviside cumulative_trapezoid""".split()


def only_tensors(name, function, *places):
    """`function`, which refuses what is no tensor in its first places."""
    def run(*args, **kwargs):
        for i, (place, x) in enumerate(zip(places, args)):
            if not isinstance(x, Tensor) and not hasattr(x, "__torch_function__"):
                raise TypeError(f"{name}(): argument '{place}' (position {i + 1}) must be Tensor, not {type(x).__name__}")
        return function(*args, **kwargs)
    run.__name__ = run.__qualname__ = name
    return run


class _Named(tuple):
    """A tuple whose items have names: what PyTorch's return types are."""

    _kind = ""
    _names = ()

    def __repr__(self):
        parts = ",\n".join([f"{n}={v!r}" for n, v in zip(self._names, self)])
        return f"torch.return_types.{self._kind}(\n{parts})"


def _named(kind, names):
    made = type(kind, (_Named,), {"_kind": kind, "_names": tuple(names)})
    for i, name in enumerate(names):
        setattr(made, name, property(lambda self, i=i: tuple.__getitem__(self, i)))
    return made


_TYPES = {k: _named(k, ("values", "indices")) for k in ("max", "min", "sort", "topk", "median", "mode", "kthvalue", "cummax", "cummin", "nanmedian")}
_TYPES["aminmax"] = _named("aminmax", ("min", "max"))


def _pair(name, result, out=None):
    return _TYPES[name](_into(out, result))


def _into(out, made, of_out=False):
    """A result, or what `out=` names, which then holds it."""
    if out is None:
        return made
    if isinstance(out, (list, tuple)):
        return tuple([_into(o, m) for o, m in zip(out, made)])
    rank = [3 if x.dtype.is_complex else 2 if x.dtype.is_floating_point else x.dtype != _C.bool for x in (made, out)]
    if rank[0] > rank[1] and not of_out:
        words = [x.type()[6:-6] for x in (made, out)]
        raise RuntimeError(f"result type {words[0]} can't be cast to the desired output type {words[1]}")
    if tuple(out.shape) != tuple(made.shape):
        out.set_(made.to(out.dtype))
        return out
    return out.copy_(made)


def max(input, dim=None, keepdim=False, *, other=None, out=None):
    other = dim if isinstance(dim, Tensor) else other
    if other is not None:
        return _into(out, _ops["maximum"](input, other))
    if dim is None:
        return _into(out, _ops["max"](input))
    return _pair("max", _ops["max"](input, dim, keepdim), out)


def min(input, dim=None, keepdim=False, *, other=None, out=None):
    other = dim if isinstance(dim, Tensor) else other
    if other is not None:
        return _into(out, _ops["minimum"](input, other))
    if dim is None:
        return _into(out, _ops["min"](input))
    return _pair("min", _ops["min"](input, dim, keepdim), out)


def aminmax(input, *, dim=None, keepdim=False, out=None):
    if dim is not None and input.dim() and -input.dim() <= dim < input.dim() and not input.shape[dim]:
        raise IndexError(f"aminmax: Expected reduction dim {dim} to have non-zero size.")
    return _TYPES["aminmax"](_into(out, (_ops["amin"](input, dim, keepdim), _ops["amax"](input, dim, keepdim))))


def sort(input, dim=-1, descending=False, stable=False, *, out=None):
    return _pair("sort", _ops["sort"](input, dim, descending), out)


def msort(input, *, out=None):
    return _into(out, sort(input, 0)[0])


def topk(input, k, dim=-1, largest=True, sorted=True, *, out=None):
    if k > (input.shape[dim] if input.dim() else 1):
        raise RuntimeError("selected index k out of range")
    return _pair("topk", _ops["topk"](input, k, dim, largest, sorted), out)


def cummax(input, dim, *, out=None):
    return _pair("cummax", _ops["cummax"](input, dim), out)


def cummin(input, dim, *, out=None):
    return _pair("cummin", _ops["cummin"](input, dim), out)


def kthvalue(input, k, dim=-1, keepdim=False, *, out=None):
    if input.dim() and not 0 < k <= input.shape[dim]:
        raise RuntimeError(f"kthvalue(): selected number k out of range for dimension {dim % input.dim()}")
    if not input.dim():
        made = kthvalue(input.reshape(1), k)
        return _pair("kthvalue", (made[0].reshape(()), made[1].reshape(())), out)
    values, indices = _ops["sort"](input, dim)
    values, indices = values.select(dim, k - 1), indices.select(dim, k - 1)
    if keepdim:
        values, indices = values.unsqueeze(dim), indices.unsqueeze(dim)
    return _pair("kthvalue", (values, indices), out)


def median(input, dim=None, keepdim=False, *, out=None):
    if out is not None:
        made = median(input, dim, keepdim)
        return _into(out, made) if dim is None else _pair("median", made, out)
    if dim is None:
        flat = input.reshape(-1)
        made = kthvalue(flat, (flat.numel() + 1) // 2)[0]
        if flat.is_floating_point():
            made = _ops["where"](flat.isnan().any(), float("nan"), made)
        if not made.requires_grad:
            return made
        # All that equal the median share its gradient, as those of the largest do.
        equal = (flat == made) | flat.isnan() & made.isnan()
        return _ops["amax"](_ops["where"](equal, flat, -float("inf")))
    found = kthvalue(input, ((input.shape[dim] if input.dim() else 1) + 1) // 2, dim, keepdim)
    if not input.is_floating_point() or not input.dim():
        return _pair("median", found)
    # A row that has NaN has it as its median, the first of them.
    odd = input.detach().isnan()
    at = _ops["where"](odd.any(dim, True), odd.int().argmax(dim, True), found[1] if keepdim else found[1].unsqueeze(dim))
    values = input.gather(dim, at)
    return _pair("median", (values, at) if keepdim else (values.squeeze(dim), at.squeeze(dim)))


def quantile(input, q, dim=None, keepdim=False, *, interpolation="linear", out=None):
    return _into(out, _ranked("quantile", input, q, dim, keepdim, interpolation))


def _ranked(name, input, q, dim, keepdim, interpolation, skip=False):
    """The values of some ranks of rows, of which NaN is left out, or is all that such a row has."""
    if interpolation not in ("linear", "lower", "higher", "nearest", "midpoint"):
        raise RuntimeError(f"{name}() interpolation must be one of linear, lower, higher, midpoint or nearest, but got {interpolation}")
    if input.dtype not in (_C.float32, _C.float64):
        raise RuntimeError(f"{name}() input tensor must be either float or double dtype")
    if not input.numel():
        raise RuntimeError(f"{name}() input tensor must be non-empty")
    given = isinstance(q, Tensor)
    if given and q.dtype != input.dtype:
        raise RuntimeError(f"{name}() q tensor must be same dtype as the input tensor")
    if not given and not 0 <= q <= 1:
        raise RuntimeError(f"{name}() q must be in the range [0, 1] but got {q:g}")
    if given and [v for v in _C.values(q) if not 0 <= v <= 1]:
        raise RuntimeError(f"{name}() q values must be in the range [0, 1]")
    many = given and q.dim() > 0
    q = q.reshape(-1) if given else _C.tensor([float(q)], input.dtype)
    x = _ops["sort"](input.reshape(-1) if dim is None or not input.dim() else input.movedim(dim, -1), -1)[0]
    last = x.shape[-1] - 1
    if skip:
        rank = q * (x.isnan().logical_not().to(x.dtype).sum(-1, keepdim=True) - 1).clamp(min=0)
    else:
        rank = where(x[..., last:].isnan(), float(last), q * last)
    if interpolation in ("lower", "higher", "nearest"):
        rank = _ops[{"lower": "floor", "higher": "ceil", "nearest": "round"}[interpolation]](rank)
    low = _ops["floor"](rank.detach()).to(_C.int64)
    made = x.gather(-1, low)
    if interpolation in ("linear", "midpoint"):
        high = _ops["ceil"](rank.detach()).to(_C.int64)
        made = _ops["lerp"](made, x.gather(-1, high), rank - low if interpolation == "linear" else 0.5)
    if keepdim and input.dim():
        made = made.reshape([1] * input.dim() + [-1]) if dim is None else made.unsqueeze(dim % input.dim())
    return made.movedim(-1, 0) if many else made.squeeze(-1)


def where(condition, input=None, other=None):
    if input is None:
        return nonzero(condition, as_tuple=True)
    if condition.dtype not in (_C.bool, _C.uint8):
        name = {"float32": "Float", "float64": "Double", "int64": "Long", "int32": "Int", "float16": "Half", "bfloat16": "BFloat16"}
        raise RuntimeError("where expected condition to be a boolean tensor, but got a tensor with dtype "
                           + name.get(str(condition.dtype)[6:], str(condition.dtype)))
    condition = condition if condition.dtype == _C.bool else condition != 0
    if not isinstance(input, Tensor) and not isinstance(other, Tensor):
        kind = _C.get_default_dtype() if isinstance(input, float) or isinstance(other, float) else None
        input = _C.tensor(input, kind)
    return _ops["where"](condition, input, other)


def _spread(name, input, dim, unbiased, keepdim, correction):
    if isinstance(dim, bool):
        dim, unbiased = None, dim
    if correction is None:
        correction = 1 if unbiased is None or unbiased else 0
    return _ops[name](input, dim, correction=correction, keepdim=keepdim)


def std(input, dim=None, unbiased=None, keepdim=False, *, correction=None, out=None):
    return _into(out, _spread("std", input, dim, unbiased, keepdim, correction))


def var(input, dim=None, unbiased=None, keepdim=False, *, correction=None, out=None):
    return _into(out, _spread("var", input, dim, unbiased, keepdim, correction))


def _mean_of(input, dim, keepdim):
    return _ops["mean"](input, None if isinstance(dim, bool) else dim, keepdim)


def std_mean(input, dim=None, unbiased=None, keepdim=False, *, correction=None):
    return std(input, dim, unbiased, keepdim, correction=correction), _mean_of(input, dim, keepdim)


def var_mean(input, dim=None, unbiased=None, keepdim=False, *, correction=None):
    return var(input, dim, unbiased, keepdim, correction=correction), _mean_of(input, dim, keepdim)


def norm(input, p="fro", dim=None, keepdim=False, out=None, dtype=None):
    if dtype is not None or out is not None:
        return _into(out, norm(input if dtype is None else input.to(dtype), p, dim, keepdim))
    if p == "nuc":
        from torch import linalg
        return linalg.matrix_norm(input, "nuc", (-2, -1) if dim is None else dim, keepdim)
    if p == float("inf") or p == float("-inf"):
        x = input.abs()
        return (_ops["amax"] if p > 0 else _ops["amin"])(x, dim, keepdim)
    return _ops["norm"](input, p, dim, keepdim)


def dist(input, other, p=2):
    return norm(input - other, p)


def einsum(equation, *operands):
    if isinstance(equation, Tensor):
        # Operands and the numbers of their dimensions in turn, those of the result last.
        given = [equation, *operands]
        letters = ["".join(["..." if d is ... else chr(97 + d) for d in dims]) for dims in given[1::2] + given[-1:] * (len(given) % 2)]
        equation, operands = ",".join(letters[:len(given) // 2]), given[:len(given) // 2 * 2:2]
        equation += "->" + letters[-1] if len(given) % 2 else ""
    if len(operands) == 1 and isinstance(operands[0], (list, tuple)):
        operands = operands[0]
    try:
        return _ops["einsum"](list(operands), equation)
    except RuntimeError as e:
        terms, _, result = equation.replace(" ", "").partition("->")
        dtypes = [x.dtype for x in operands]
        # Where nothing that two of them have is summed, PyTorch multiplies, and that promotes.
        if len(set(dtypes)) > 1 and not [c for c in terms if c.isalpha() and c not in result and len([t for t in terms.split(",") if c in t]) > 1]:
            import functools
            from torch import promote_types
            dtype = functools.reduce(promote_types, dtypes)
            return _ops["einsum"]([x.to(dtype) for x in operands], equation)
        raise _einsum_error(equation, operands, e) from None


def _einsum_error(equation, operands, error):
    """PyTorch's words for dimensions that do not go together, where no ellipsis stands for some of them."""
    sizes, terms = {}, equation.replace(" ", "").split("->")[0].split(",")
    if "." in equation or len(terms) != len(operands):
        return error
    for i, (letters, operand) in enumerate(zip(terms, operands)):
        if len(letters) != operand.dim():
            return error
        for letter, n in zip(letters, operand.shape):
            have = sizes.setdefault(letter, n)
            if n != have and n != 1 and have != 1:
                return RuntimeError(f"einsum(): subscript {letter} has size {n} for operand {i} which does not broadcast with previously "
                                    f"seen size {have}")
            sizes[letter] = n if have == 1 else have
    return error


def tensordot(a, b, dims=2):
    if isinstance(dims, int):
        left, right = list(range(a.dim() - dims, a.dim())), list(range(dims))
    else:
        left, right = [list(d) if not isinstance(d, int) else [d] for d in dims]
    left = [d % a.dim() for d in left]
    right = [d % b.dim() for d in right]
    for d, e in zip(left, right):
        # One value stands for as many as the other has.
        if a.shape[d] != b.shape[e] and 1 not in (a.shape[d], b.shape[e]):
            raise RuntimeError(f"contracted dimensions need to match, but first has size {a.shape[d]} in dim {d - a.dim()} and second has size "
                               f"{b.shape[e]} in dim {e}")
        a = a.sum(d, keepdim=True).to(a.dtype) if b.shape[e] == 1 else a
        b = b.sum(e, keepdim=True).to(b.dtype) if a.shape[d] == 1 else b
    rows = [d for d in range(a.dim()) if d not in left]
    columns = [d for d in range(b.dim()) if d not in right]
    size = 1
    for d in left:
        size *= a.shape[d]
    x = a.permute(rows + left).reshape(-1, size)
    y = b.permute(right + columns).reshape(size, -1)
    return (x @ y).reshape([a.shape[d] for d in rows] + [b.shape[d] for d in columns])


def inner(input, other):
    if not input.dim() or not other.dim():
        return input * other
    return tensordot(input, other, ([-1], [-1]))


def ger(input, vec2):
    return _ops["outer"](input, vec2)


def addmv(input, mat, vec, *, beta=1, alpha=1, out=None):
    return _into(out, scaled_sum(input, mat @ vec, beta, alpha))


def scaled_sum(input, product, beta, alpha):
    """`beta * input + alpha * product`; of whole numbers with whole factors, and of none of the input where `beta` is zero."""
    if not product.dtype.is_floating_point and not product.dtype.is_complex:
        beta, alpha = int(beta), int(alpha)
    product = product if alpha == 1 else alpha * product
    return product if beta == 0 else (input if beta == 1 else beta * input) + product


def clone(input, *, memory_format=None):
    return input.clone()


def dropout(input, p, train):
    from torch.nn.functional import dropout
    return dropout(input, p, train)


def nonzero(input, *, out=None, as_tuple=False):
    input = input != 0 if input.dtype.is_complex else input
    places = _C.nonzero(input if input.dim() or not as_tuple else input.reshape(1))
    if as_tuple:
        return tuple(places)
    if out is not None and out.dtype != _C.int64:
        raise RuntimeError(f"nonzero: Expected out tensor to have scalar type Long but got scalar type{out.type()[6:-6]}")
    return _into(out, _ops["stack"](places, 1) if places else _C.full((1 if input.item() else 0, 0), 0, _C.int64))


def argwhere(input):
    return nonzero(input)


def masked_select(input, mask, *, out=None):
    if mask.dtype != _C.bool:
        raise RuntimeError("masked_select: expected BoolTensor for mask")
    shape = broadcast_shapes(input.shape, mask.shape)
    return _into(out, input.expand(shape).reshape(-1)[mask.expand(shape).reshape(-1)])


def broadcast_shapes(*shapes):
    shapes = [(s,) if isinstance(s, int) else tuple(s) for s in shapes]
    rank = 0
    for s in shapes:
        rank = rank if rank > len(s) else len(s)
    out = [1] * rank
    for s in shapes:
        for i, n in enumerate(reversed(s)):
            at = rank - 1 - i
            if n != 1:
                if out[at] not in (1, n):
                    raise RuntimeError(f"The size of tensor a ({out[at]}) must match the size of tensor b ({n}) at non-singleton dimension {at}")
                out[at] = n
    from torch import Size
    return Size(out)


__all__.append("broadcast_shapes")


def broadcast_tensors(*tensors):
    shape = broadcast_shapes(*[t.shape for t in tensors])
    return tuple([t.expand(shape) for t in tensors])


def tied(made, *inputs):
    """A value that depends on others on the tape without changing with them."""
    for x in inputs:
        if x.requires_grad:
            made = _ops["where"](_C.full((), False), x if x.shape == made.shape else x.sum().to(made.dtype), made)
    return made


def turned(input):
    """The order in memory of the dimensions of a tensor like this one, where it is not their own."""
    if _C.is_contiguous(input):
        return None
    order, shape = _C.order(input), input.shape
    wide = [d for d in order if shape[d] != 1]
    return order if wide != sorted(wide) else None


def drawn_like(input, draw):
    """What `draw` makes of a shape for a tensor, in the order in which PyTorch has the elements of one like it: that of its strides."""
    order, shape = turned(input), input.shape
    if order is None:
        return draw(shape)
    return draw([shape[d] for d in order]).permute([order.index(d) for d in range(len(shape))])


def broadcast_to(input, shape):
    return input.expand(shape)


def ravel(input):
    return input.reshape(-1)


def _beyond(input, index):
    count = input.numel()
    wrong = _C.outside(index, -count, count)
    if wrong:
        raise IndexError(f"out of range: tried to access index {wrong[1]} on a tensor of {count} elements.")


def take(input, index, *, out=None):
    _beyond(input, index)
    return _into(out, input.reshape(-1)[index])


def as_strided(input, size, stride, storage_offset=None):
    """By positions in the elements in order: right for tensors that are not views, and not a view itself."""
    size, stride, start = list(size), list(stride), storage_offset or 0
    if len(size) != len(stride):
        raise RuntimeError("mismatch in length of strides and shape")
    if [step for step in stride if step < 0]:
        raise RuntimeError(f"as_strided: Negative strides are not supported at the moment, got strides: {stride}")
    if start < 0:
        raise RuntimeError(f"Tensor: invalid storage offset {start}")
    end = start + 1
    for n, step in zip(size, stride):
        end += (n - 1) * step
    if 0 not in size and end > input.numel():
        each = input.element_size()
        raise RuntimeError(
            f"setStorage: sizes {size}, strides {stride}, storage offset {start}, and itemsize {each} requiring a storage size of "
            f"{end * each} are out of bounds for storage of size {input.numel() * each}")
    places = _C.full((), start, _C.int64)
    for n, step in zip(size, stride):
        places = places.unsqueeze(-1) + _C.tensor([i * step for i in range(n)], _C.int64)
    return input.reshape(-1)[places]


def unique(input, sorted=True, return_inverse=False, return_counts=False, dim=None):
    return _distinct(input, dim, True, return_inverse, return_counts)


def unique_consecutive(input, return_inverse=False, return_counts=False, dim=None):
    return _distinct(input, dim, False, return_inverse, return_counts)


def _distinct(input, dim, ordered, return_inverse, return_counts):
    """The different values, or slices along `dim`: all in order, or those that differ from the one before."""
    if dim is None:
        values = _C.values(input)
    else:
        rows = input.movedim(dim, 0)
        if rows.shape[0] and not input.numel():
            raise RuntimeError("There are 0 sized dimensions, and they aren't selected, so unique cannot be applied")
        rows = rows.flatten(1).tolist() if input.dim() > 1 and input.numel() else [[v] for v in _C.values(rows)]
        values = [tuple(row) for row in rows]
    firsts, places, counts, known = [], [], [], {}
    for i, v in enumerate(values):
        # Nothing is like what is not a number.
        strange = [x for x in (v if dim is not None else (v,)) if x != x]
        at = (None if strange else known.get(v)) if ordered else (len(firsts) - 1 if i and values[i - 1] == v else None)
        if at is None:
            at = known[v] = len(firsts)
            firsts.append(i)
            counts.append(0)
        counts[at] += 1
        places.append(at)
    if ordered:
        order = list(range(len(firsts)))
        order.sort(key=lambda at: values[firsts[at]] if dim is not None else (values[firsts[at]] != values[firsts[at]], values[firsts[at]]))
        moved = [0] * len(order)
        for to, at in enumerate(order):
            moved[at] = to
        firsts, counts, places = [firsts[at] for at in order], [counts[at] for at in order], [moved[at] for at in places]
    index = _C.tensor(firsts, _C.int64)
    out = [input.reshape(-1)[index] if dim is None else input.index_select(dim, index)]
    if return_inverse:
        made = _C.tensor(places, _C.int64)
        out.append(made.reshape(input.shape) if dim is None else made)
    if return_counts:
        out.append(_C.tensor(counts, _C.int64))
    return out[0] if len(out) == 1 else tuple(out)


def count_nonzero(input, dim=None):
    return (input != 0).sum(dim)


def equal(input, other):
    return tuple(input.shape) == tuple(other.shape) and (input == other).all().item()


def isclose(input, other, rtol=1e-05, atol=1e-08, equal_nan=False):
    for name, v in (("rtol", rtol), ("atol", atol)):
        if v < 0:
            raise RuntimeError(f"{name} must be greater than or equal to zero, but got {v:g}")
    if input.dtype == _C.bool:
        return input == other
    close = (input - other).abs() <= atol + rtol * other.abs()
    close = close | (input == other)
    if equal_nan:
        close = close | (input.isnan() & other.isnan())
    return close


isclose = only_tensors("isclose", isclose, "input", "other")


def allclose(input, other, rtol=1e-05, atol=1e-08, equal_nan=False):
    return isclose(input, other, rtol, atol, equal_nan).all().item()


def is_nonzero(input):
    return bool(input)


def numel(input):
    return input.numel()


def clamp_min(input, min):
    return _ops["clamp"](input, min)


def clamp_max(input, max):
    return _ops["clamp"](input, None, max)


def each_alone(function):
    """Of one tensor, or of several as a tuple."""
    def functions(*tensors):
        many = len(tensors) != 1 or isinstance(tensors[0], (list, tuple))
        out = [function(t) for t in (tensors[0] if many and len(tensors) == 1 else tensors)]
        return tuple(out) if many else out[0]
    return functions


atleast_1d = each_alone(lambda t: t.reshape(1) if t.dim() == 0 else t)
atleast_2d = each_alone(lambda t: t.reshape(1, -1) if t.dim() < 2 else t)


def column_stack(tensors):
    return _ops["hstack"]([t.reshape(-1, 1) if t.dim() < 2 else t for t in tensors])


def _want_rank(input, n):
    if input.dim() < n:
        raise RuntimeError(f"Input must be >= {n}-d.")


def fliplr(input):
    _want_rank(input, 2)
    return _ops["flip"](input, [1])


def flipud(input):
    _want_rank(input, 1)
    return _ops["flip"](input, [0])


def meshgrid(*tensors, indexing="ij"):
    if len(tensors) == 1 and isinstance(tensors[0], (list, tuple)):
        tensors = tensors[0]
    return _ops["meshgrid"](list(tensors), indexing=indexing)


def positive(input):
    return input


def scalar_tensor(value, *, dtype=None, device=None, requires_grad=False, **kwargs):
    import torch
    return torch.tensor(value, dtype=dtype or _C.get_default_dtype(), device=device, requires_grad=requires_grad)


def tensor_split(input, indices_or_sections=None, dim=0, *, indices=None, sections=None):
    parts = [p for p in (indices_or_sections, indices, sections) if p is not None][0]
    parts = parts.tolist() if isinstance(parts, Tensor) else parts
    return _ops["tensor_split"](input, parts, dim)


def _narrow(name):
    """Places as int32 where asked for."""
    def function(*args, out_int32=False, **kwargs):
        made = _ops[name](*args, **kwargs)
        return made.int() if out_int32 else made
    return function


searchsorted, bucketize = _narrow("searchsorted"), _narrow("bucketize")


def typename(obj):
    if isinstance(obj, _C.Tensor):
        return obj.type()
    name = getattr(type(obj) if not isinstance(obj, type) else obj, "__qualname__", "")
    module = getattr(obj, "__module__", "") or ""
    return name if module in ("", "builtins") else f"{module}.{name}"


def heaviside(input, values, *, out=None):
    if input.dtype != values.dtype:
        raise RuntimeError("heaviside is not yet implemented for tensors with different dtypes.")
    return _into(out, where(input == 0, values, (input > 0).to(input.dtype)))


heaviside = only_tensors("heaviside", heaviside, "input", "values")


def softmax(input, dim, dtype=None, *, out=None):
    return _into(out, _ops["softmax"](input if dtype is None else input.to(dtype), dim))


def log_softmax(input, dim, dtype=None, *, out=None):
    return _into(out, _ops["log_softmax"](input if dtype is None else input.to(dtype), dim))


__all__ = [_n for _n in dict.fromkeys(__all__) if _n in globals()]
