"""`torch._foreach_*`: what optimizers call for all parameters at once. Recorded together, they are fused all the same."""

from torch import _C
from torch._C import Tensor

_UNARY = """abs acos asin atan ceil cos cosh erf erfc exp expm1 floor frac lgamma log log10 log1p log2 neg reciprocal round rsqrt sigmoid
sign sin sinh sqrt tan tanh trunc""".split()
# The names of what they do to one tensor.
_BINARY = {"add": "add", "sub": "sub", "mul": "mul", "div": "div", "pow": "pow", "clamp_min": "clamp_min", "clamp_max": "clamp_max",
           "maximum": "clamp_min", "minimum": "clamp_max", "lerp": "lerp"}
_TERNARY = ("addcmul", "addcdiv")
__all__ = []


def _at(value, i):
    """An operand's part for the tensor at a place: lists have one for each."""
    return value[i] if isinstance(value, (list, tuple)) else value


def _same(tensors, *others):
    if len(tensors) == 0:
        raise RuntimeError("Tensor list must have at least one tensor.")
    for other in others:
        if isinstance(other, (list, tuple)) and len(other) != len(tensors):
            raise RuntimeError(f"Tensor lists must have the same number of tensors, got {len(tensors)} and {len(other)}")


def _power(base, exponents):
    """`_foreach_pow` of a number."""
    return tuple([base ** e for e in exponents])


def _define(name, method):
    def function(self, *operands, **kwargs):
        if not isinstance(self, (list, tuple)):
            return _power(self, *operands)
        value = kwargs.pop("value", None) if name in _TERNARY else None
        if name in _TERNARY and len(operands) > 2:
            operands, value = operands[:2], operands[2]
        if isinstance(value, Tensor):
            value = value.tolist()
        operands = list(operands) + [kwargs.pop(k) for k in ("other", "scalar", "exponent", "weight", "scalars") if k in kwargs]
        _same(self, *operands)
        made = []
        for i, t in enumerate(self):
            extra = dict(kwargs) if value is None else {**kwargs, "value": _at(value, i)}
            made.append(getattr(t, method)(*[_at(o, i) for o in operands], **extra))
        return None if method.endswith("_") else tuple(made)
    return function


def _put(name, function):
    globals()["_foreach_" + name] = function
    __all__.append("_foreach_" + name)


for _name in _UNARY:
    _put(_name, _define(_name, _name))
    _put(_name + "_", _define(_name, _name + "_"))
for _name, _method in list(_BINARY.items()) + [(n, n) for n in _TERNARY]:
    _put(_name, _define(_name, _method))
    _put(_name + "_", _define(_name, _method + "_"))


def _foreach_zero_(self):
    for t in self:
        t.zero_()


def _foreach_copy_(self, src, non_blocking=False):
    _same(self, src)
    for t, s in zip(self, src):
        t.copy_(s)


def _foreach_norm(self, ord=2, dtype=None):
    from torch import linalg
    _same(self)
    return tuple([linalg.vector_norm(t, ord) for t in self])


def _foreach_max(self):
    _same(self)
    return tuple([t.max() for t in self])


__all__ += ["_foreach_zero_", "_foreach_copy_", "_foreach_norm", "_foreach_max"]
