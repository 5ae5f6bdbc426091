"""Complex tensors: pairs of reals along a last dimension that scripts do not see. What an operator does with them is here: the machine
calls `call` wherever one of its operands is complex."""

from torch import _C
from torch._C import Tensor
from torch._functions import only_tensors

_ops = _C._ops
_wrap = _C.complexed


def call(name, args, kwargs):
    function = _function(name)
    if function is not None:
        return function(*args, **kwargs)
    if name.endswith("_") and not name.startswith("__") and _function(name[:-1]) is not None:
        return args[0].copy_(_function(name[:-1])(*args, **kwargs))
    raise RuntimeError(f"\"{name}\" not implemented for 'ComplexFloat'")


def _function(name):
    if name in _FUNCTIONS:
        return _FUNCTIONS[name]
    from torch._rare.complex import FUNCTIONS
    return FUNCTIONS.get(name)


def pairs(x):
    """The pairs of a complex tensor or number; of real ones with zeros."""
    if isinstance(x, Tensor):
        if x.dtype.is_complex:
            return _C.pairs(x)
        x = x if x.dtype.is_floating_point else x.to(_C.float32)
        return _ops["complex"](x, _C.full(x.shape, 0.0, x.dtype))
    x = complex(x)
    return _C.tensor([x.real, x.imag], _C.float32)


def _is_real(x):
    return isinstance(x, Tensor) and not x.dtype.is_complex


def _product(name, a, b):
    if isinstance(b, (int, float)):
        return _wrap(_ops[name](pairs(a), b))
    if _is_real(b):
        return _wrap(_ops[name](pairs(a), b.unsqueeze(-1)))
    if name == "mul" and (_is_real(a) or isinstance(a, (int, float))):
        return _product(name, b, a)
    return _wrap(_ops["complex_" + name](pairs(a), pairs(b)))


def _sum(name):
    def function(input, other, alpha=1):
        other = pairs(other)
        return _wrap(_ops[name](pairs(input), other if alpha == 1 else other * alpha))
    return function


def _unary(row):
    return lambda input, **kwargs: _wrap(_ops[row](pairs(input)))


def _real_valued(row):
    return lambda input, **kwargs: _ops[row](pairs(input))


def _dim(x, dim, more=0):
    return dim if dim >= 0 else dim + x.dim() + more


def _dims(x, dims):
    if dims is None:
        return list(range(x.dim()))
    return [_dim(x, d) for d in ([dims] if isinstance(dims, int) else dims)]


def _shape(shape):
    return list(shape[0]) if len(shape) == 1 and isinstance(shape[0], (tuple, list)) else list(shape)


def _one_dim(row, default=0, more=0):
    """Operators whose argument after the tensor is a dimension."""
    def function(input, dim=default, *args, **kwargs):
        kwargs.pop("dtype", None)
        if input.dim() == 0 and not more:
            # One element, which is as one of a list.
            made = function(input.reshape(1), 0, *args, **kwargs)
            return made if row in ("unbind", "select") else made.reshape([]) if made.numel() == 1 else made
        made = _ops[row](pairs(input), _dim(input, dim, more), *args, **kwargs)
        return tuple([_wrap(m) for m in made]) if isinstance(made, tuple) else _wrap(made)
    return function


def _parts(row):
    """Operators whose last argument is a dimension."""
    def function(input, sizes, dim=0):
        return tuple([_wrap(m) for m in _ops[row](pairs(input), sizes, _dim(input, dim))])
    return function


def _reduced(row):
    def function(input, dim=None, keepdim=False, **kwargs):
        dims = _dims(input, None if dim in ([], ()) else dim)
        return _wrap(_ops[row](pairs(input), dims, keepdim)) if input.dim() else input.clone()
    return function


def _joined(row, more=0):
    def function(tensors, dim=0):
        # Old scripts begin with an empty list of any number of dimensions.
        tensors = [t for t in tensors if more or tuple(t.shape) != (0,)] or tensors
        first = tensors[0]
        return _wrap(_ops[row]([pairs(t) for t in tensors], _dim(first, dim, more)))
    return function


def _products(input, other, **kwargs):
    a, b = pairs(input), pairs(other)
    if input.dim() == other.dim() == 1:
        return _wrap(_ops["complex_mul"](a, b).sum(0))
    return _wrap(_ops["complex_matmul"](a, b))


def _permute(input, *dims):
    return _wrap(pairs(input).permute(_dims(input, _shape(dims)) + [input.dim()]))


def _flatten(input, start_dim=0, end_dim=-1):
    return _wrap(pairs(input).flatten(_dim(input, start_dim), _dim(input, end_dim))) if input.dim() else input.reshape(1)


def _flip(input, *dims, **kwargs):
    dims = _dims(input, kwargs["dims"] if kwargs else _shape(dims))
    return _wrap(pairs(input).flip(dims)) if dims else input.clone()


def _squeeze(input, dim=None):
    dims = [d for d in _dims(input, dim) if input.dim() and input.shape[d] == 1]
    return _wrap(pairs(input).squeeze(dims)) if dims else input


def _index(index):
    index = index if isinstance(index, tuple) else (index,)
    return index + (slice(None),) if any([i is Ellipsis for i in index]) else index


def _get(x, index):
    return _wrap(pairs(x)[_index(index)])


def _set(x, index, value):
    if not x.dtype.is_complex:
        raise RuntimeError("a complex value can't be put into a real tensor; use view_as_real or .real")
    pairs(x)[_index(index)] = pairs(value)


def _copy(self, src, non_blocking=False):
    if not self.dtype.is_complex:
        return self.copy_(_ops["real"](pairs(src)))
    pairs(self).copy_(pairs(src))
    return self


def _numbers(x):
    values = _C.values(_C.pairs(x))
    return [complex(values[i], values[i + 1]) for i in range(0, len(values), 2)]


def _item(x):
    if x.numel() != 1:
        raise RuntimeError(f"a Tensor with {x.numel()} elements cannot be converted to Scalar")
    return _numbers(x)[0]


def _tolist(x):
    numbers = iter(_numbers(x))

    def nest(shape):
        return [nest(shape[1:]) for _ in range(shape[0])] if shape else next(numbers)
    return nest(tuple(x.shape))


def _cast(x, dtype):
    if dtype.is_complex:
        return _wrap(pairs(x if x.dtype.is_complex else x.to(_C.float32)))
    return _ops["real"](pairs(x)).to(dtype)


def _full(size, value, dtype=None):
    made = pairs(value)
    return _wrap(made.expand(list(size) + [2]).clone())


def _power(input, exponent):
    if isinstance(exponent, int) and exponent == 2:
        return _product("mul", input, input)
    return _wrap(_ops["complex_pow"](pairs(input), pairs(exponent)))


def _where(condition, input, other):
    return _wrap(_ops["where"](condition.unsqueeze(-1), pairs(input), pairs(other)))


def _detach(x):
    return _wrap(pairs(x).detach())


_FUNCTIONS = {
    "add": _sum("add"), "sub": _sum("sub"), "mul": lambda a, b: _product("mul", a, b),
    "div": lambda a, b, **kwargs: _product("div", a, b), "pow": _power,
    "eq": lambda a, b: _ops["complex_eq"](pairs(a), pairs(b)), "ne": lambda a, b: ~_ops["complex_eq"](pairs(a), pairs(b)),
    "square": lambda a: _product("mul", a, a), "reciprocal": lambda a: _product("div", 1, a),
    "abs": _real_valued("complex_abs"), "angle": _real_valued("angle"), "real": _real_valued("real"), "imag": _real_valued("imag"),
    "matmul": _products, "mm": _products, "bmm": _products, "mv": _products, "dot": _products,
    "linear": lambda x, w, b=None: _wrap(_ops["complex_linear"](pairs(x), pairs(w), None if b is None else pairs(b))),
    "einsum": lambda operands, equation: _wrap(_ops["complex_einsum"]([pairs(o) for o in operands], equation)),
    "reshape": lambda x, *shape: _wrap(pairs(x).reshape(_shape(shape) + [2])),
    "expand": lambda x, *shape: _wrap(pairs(x).expand(_shape(shape) + [2])),
    "repeat": lambda x, *sizes: _wrap(pairs(x).repeat(_shape(sizes) + [1])),
    "permute": _permute, "transpose": lambda x, a, b: _wrap(pairs(x).transpose(_dim(x, a), _dim(x, b))),
    "t": lambda x: x if x.dim() < 2 else _wrap(pairs(x).transpose(0, 1)),
    "movedim": lambda x, a, b: _wrap(pairs(x).movedim(_dims(x, a), _dims(x, b))),
    "flatten": _flatten, "squeeze": _squeeze, "unsqueeze": _one_dim("unsqueeze", more=1), "unbind": _one_dim("unbind"),
    "select": _one_dim("select"), "narrow": _one_dim("narrow"), "index_select": _one_dim("index_select"), "cumsum": _one_dim("cumsum"),
    "split": _parts("split"), "chunk": _parts("chunk"), "cat": _joined("cat"), "stack": _joined("stack", 1),
    "flip": _flip,
    "roll": lambda x, shifts, dims=None: _wrap(pairs(x).roll(shifts, _dims(x, dims)) if dims is not None or x.dim() == 1
                                               else pairs(x).reshape(-1, 2).roll(shifts, 0).reshape(list(x.shape) + [2])),
    "sum": _reduced("sum"), "mean": _reduced("mean"), "where": _where, "detach": _detach, "isnan": lambda x: pairs(x).isnan().any(-1),
    "__getitem__": _get, "__setitem__": _set, "item": _item, "tolist": _tolist, "to": _cast, "copy_": _copy, "full": _full, "values": _numbers,
}
for _name in "exp log sqrt sin cos tan sinh cosh tanh".split():
    _FUNCTIONS[_name] = _unary("complex_" + _name)
for _name in ("neg", "conj"):
    _FUNCTIONS[_name] = _unary(_name)


# Functions of torch.
def view_as_real(input):
    if not input.dtype.is_complex:
        raise TypeError("view_as_real is only supported for complex tensors")
    return _C.pairs(input)


def view_as_complex(input):
    if input.dim() == 0:
        raise RuntimeError("Input tensor must have one or more dimensions")
    if input.shape[-1] != 2:
        raise RuntimeError("Tensor must have a last dimension of size 2")
    return _wrap(input)


def complex_(real, imag):
    if not (real.dtype.is_floating_point and imag.dtype.is_floating_point):
        words = [x.type()[6:-6] for x in (real, imag)]
        raise NotImplementedError(f"Expected both inputs to be Half, Float or Double tensors but got {words[0]} and {words[1]}")
    if real.dtype != imag.dtype:
        raise RuntimeError(
            f"Expected object of scalar type {real.type()[6:-6]} but got scalar type {imag.type()[6:-6]} for second argument")
    return _wrap(_ops["complex"](real, imag))


complex_ = only_tensors("complex", complex_, "real", "imag")


def polar(abs, angle):
    return _wrap(_ops["polar"](abs, angle))


def real(input):
    """A view: what is written into it is written into the complex tensor."""
    return pairs(input).select(-1, 0) if input.dtype.is_complex else input


def imag(input):
    if not input.dtype.is_complex:
        raise TypeError("imag is not implemented for tensors with non-complex dtypes.")
    return pairs(input).select(-1, 1)


def conj(input):
    return _wrap(_ops["conj"](pairs(input))) if input.dtype.is_complex else input


def angle(input):
    return _ops["angle"](pairs(input))


def tensor_of(data):
    """Nested lists with complex numbers; `None` where there are none."""
    shape, flat = [], [data]
    while isinstance(flat[0], (list, tuple)):
        shape.append(len(flat[0]))
        flat = [v for part in flat for v in part]
        if not flat:
            return None
    if not any([isinstance(v, complex) for v in flat]):
        return None
    parts = [part for v in flat for part in (complex(v).real, complex(v).imag)]
    return _wrap(_C.tensor(parts, _C.float32).reshape(shape + [2]))
