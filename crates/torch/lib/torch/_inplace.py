"""Methods of Tensor that write into it, those that the operators' table does not have."""

from torch import _C
import math
import torch
from torch import _composites
from torch._C import Tensor
from torch._functions import drawn_like


def fill_(self, value):
    if isinstance(value, Tensor):
        if value.dim():
            raise RuntimeError(f"fill_ only supports 0-dimension value tensor but got tensor with {value.dim()} dimensions.")
        return self.copy_(value)
    return self.copy_(torch.full((), value, dtype=self.dtype))


Tensor.fill_ = fill_


def _draw_into(self, draw):
    """Fills a tensor with what `draw` makes of a shape, in the order in which its elements lie in memory, as PyTorch does."""
    return self.copy_(drawn_like(self, draw))


def _want(right, text):
    if not right:
        raise RuntimeError(text)


def _drawing(name, self, first, second, generator):
    if name == "normal":
        _want(second >= 0, f"normal expects std >= 0.0, but found std {second}")
    else:
        _want(first <= second, f"uniform_ expects to return a [from, to) range, but found from={first} > to={second}")
    if self.dtype.is_complex:
        # Both parts are drawn, normal ones with half of the variance each.
        second = second * 0.5 ** 0.5 if name == "normal" else second
        return self.copy_(_C.complexed(getattr(_C, name)(list(self.shape) + [2], first, second, torch.float32, generator)))
    draw = _C.normal_in_order if name == "normal" and not _C.is_contiguous(self) else getattr(_C, name)
    return _draw_into(self, lambda shape: draw(shape, first, second, self.dtype, generator))


Tensor.zero_ = lambda self: self.copy_(torch.full((), 0, dtype=self.dtype))
Tensor.normal_ = lambda self, mean=0.0, std=1.0, generator=None: _drawing("normal", self, mean, std, generator)
Tensor.uniform_ = lambda self, a=0.0, b=1.0, generator=None, **k: _drawing("uniform", self, k.get("from", a), k.get("to", b), generator)


def bernoulli_(self, p=0.5, generator=None):
    if isinstance(p, Tensor):
        return self.copy_(_C.bernoulli_of(p.expand(self.shape), generator))
    _want(0 <= p <= 1, f"bernoulli_ expects p to be in [0, 1], but got p={p:g}")
    return _draw_into(self, lambda shape: _C.bernoulli(shape, p, None, generator))


def exponential_(self, lambd=1.0, generator=None):
    _want(lambd > 0, f"exponential_ expects lambda > 0.0, but found lambda={lambd:g}")
    return _draw_into(self, lambda shape: _C.exponential(shape, lambd, generator))


Tensor.bernoulli_, Tensor.exponential_ = bernoulli_, exponential_


def log_normal_(self, mean=1.0, std=2.0, *, generator=None):
    from math import exp
    _want(std > 0, f"log_normal_ expects std > 0.0, but found std={std}")
    # One number after another as doubles, however many there are.
    drawn = [exp(mean + std * _C.normal64(generator)) for _ in range(self.numel())]
    return self.copy_(torch.tensor(drawn, dtype=self.dtype).reshape(self.shape))


Tensor.log_normal_ = log_normal_


def geometric_(self, p, *, generator=None):
    from math import ceil, log, log1p
    _want(0 < p < 1, f"geometric_ expects p to be in (0, 1), but got p={p:g}")
    drawn = _C.values(_C.uniform(self.shape, 0.0, 1.0, torch.float64, generator))
    return self.copy_(torch.tensor([ceil(log(u) / log1p(-p)) for u in drawn], dtype=self.dtype).reshape(self.shape))


def cauchy_(self, median=0.0, sigma=1.0, *, generator=None):
    from math import pi, tan
    _want(sigma > 0, f"cauchy_ expects sigma > 0.0, but found sigma={sigma}")
    drawn = _C.values(_C.uniform(self.shape, 0.0, 1.0, torch.float64, generator))
    return self.copy_(torch.tensor([median + sigma * tan(pi * (u - 0.5)) for u in drawn], dtype=self.dtype).reshape(self.shape))


Tensor.geometric_ = geometric_
Tensor.cauchy_ = cauchy_


def index_put_(self, indices, values, accumulate=False):
    if accumulate:
        return self.copy_(_composites.index_put(self, indices, values, True))
    self[tuple(indices)] = values
    return self


Tensor.index_put_ = Tensor._index_put_ = index_put_


def random_(self, low=None, high=None, *, generator=None, **bounds):
    low, high = bounds.get("from", low), bounds.get("to", high)
    if low is None:
        return _draw_into(self, lambda shape: _C.random(shape, self.dtype, generator))
    if high is None:
        low, high = 0, low
    return _draw_into(self, lambda shape: _C.randint(shape, low, high, None, generator))


Tensor.random_ = random_
Tensor.clip_ = Tensor.clamp_
Tensor.clamp_min_ = lambda self, min: self.clamp_(min)
Tensor.clamp_max_ = lambda self, max: self.clamp_(None, max)

# The same methods by their other names.
for _name, _other in (
    ("absolute", "abs"), ("arccos", "acos"), ("arccosh", "acosh"), ("arcsin", "asin"), ("arcsinh", "asinh"), ("arctan", "atan"),
    ("arctanh", "atanh"), ("arctan2", "atan2"), ("divide", "div"), ("fix", "trunc"), ("greater", "gt"), ("greater_equal", "ge"),
    ("less", "lt"), ("less_equal", "le"), ("multiply", "mul"), ("negative", "neg"), ("not_equal", "ne"), ("subtract", "sub"),
    ("true_divide", "div"), ("swapaxes", "transpose"), ("swapdims", "transpose"), ("sgn", "sign"),
):
    if hasattr(Tensor, _other + "_"):
        setattr(Tensor, _name + "_", getattr(Tensor, _other + "_"))


def _written(name):
    """A method in place: the result of the one that makes a tensor, written back."""
    def method(self, *args, **kwargs):
        made = getattr(self, name)(*args, **kwargs)
        # A sum may have more dimensions than what it is written to.
        return _C.reshaped(self, made.to(self.dtype)) if name == "addbmm" and made.shape != self.shape else self.copy_(made)
    return method


for _name in """addbmm addmv addr float_power heaviside index_reduce ldexp mvlgamma put renorm deg2rad rad2deg gcd lcm i0
polygamma nextafter igamma igammac""".split():
    setattr(Tensor, _name + "_", _written(_name))


def _set(self, source=None, storage_offset=0, size=None, stride=None):
    if not isinstance(source, Tensor):
        source = torch.empty(0, dtype=self.dtype) if source is None else torch.as_tensor(list(source), dtype=self.dtype)
    if size is not None:
        if stride is None:
            stride = torch.empty(size, device="meta").stride()
        source = source.reshape(-1).as_strided(size, stride, storage_offset)
    _C.set_data(self, source)
    return self


def _fill_diagonal(self, fill_value, wrap=False):
    if self.dim() < 2:
        raise RuntimeError("dimensions must larger than 1")
    if self.dim() > 2 and len(set(self.shape)) > 1:
        raise RuntimeError("all dimensions of input must be of equal length")
    # In the order of the elements every so many-th is on it, beyond the square too where it wraps.
    step = sum([math.prod(self.shape[d + 1:]) for d in range(self.dim())])
    n = self.numel() if wrap else min(self.numel(), self.shape[1] ** self.dim())
    flat = self.reshape(-1)
    return self.copy_(flat.index_fill(0, torch.arange(0, n, step), fill_value).reshape(self.shape))


Tensor.as_strided_ = lambda self, size, stride, storage_offset=None: _C.reshaped(self, self.as_strided(size, stride, storage_offset))
Tensor.unsqueeze_ = lambda self, dim: _C.reshaped(self, self.unsqueeze(dim))
Tensor.squeeze_ = lambda self, *args, **kwargs: _C.reshaped(self, self.squeeze(*args, **kwargs))
Tensor.transpose_ = lambda self, dim0, dim1: _C.reshaped(self, self.transpose(dim0, dim1))
Tensor.masked_fill_ = lambda self, mask, value: self.copy_(self.masked_fill(mask, value))
Tensor.fill_diagonal_ = _fill_diagonal
Tensor.set_ = _set
Tensor.apply_ = lambda self, f: self.copy_(torch.tensor([f(v) for v in _C.values(self)], dtype=self.dtype).reshape(self.shape))
