"""Invertible functions of random variables, and distributions made by them."""

from torch import _C
from torch.distributions import constraints
from torch.distributions.distribution import Distribution
from torch.autograd import no_grad
import copy
import math

_ops = _C._ops


class Transform:
    """`y = f(x)` with its inverse and the logarithm of its derivative. `event` counts the dimensions that one value has."""

    bijective, event, sign = True, 0, 1
    domain = codomain = constraints.real
    event_dim = property(lambda self: self.event)

    def __init_subclass__(cls):
        # One of a script's own says it by its domain.
        named = vars(cls)
        if "event" not in named and isinstance(named.get("domain"), constraints.Constraint):
            cls.event = named["domain"].event_dim

    def __eq__(self, other):
        if self is other or type(self) is not type(other) or not type(self).__module__.startswith("torch"):
            return self is other
        pairs = [(v, vars(other).get(k)) for k, v in vars(self).items() if k not in ("_cache_size", "_last")]
        return all([bool((a == b).all()) if isinstance(a == b, _C.Tensor) else a == b for a, b in pairs])

    __hash__ = object.__hash__

    def with_cache(self, cache_size=1):
        made = copy.copy(self)
        made._cache_size, made._last = cache_size, (None, None)
        return made

    def __init__(self, cache_size=0):
        self._cache_size, self._last = cache_size, (None, None)

    def __call__(self, x):
        if self._cache_size and x is self._last[0]:
            return self._last[1]
        y = self._call(x)
        if self._cache_size:
            self._last = (x, y)
        return y

    @property
    def inv(self):
        return _InverseTransform(self)

    def _inv_call(self, y):
        return self._last[0] if self._cache_size and y is self._last[1] else self._inverse(y)

    def forward_shape(self, shape):
        return shape

    def inverse_shape(self, shape):
        return shape

    def __repr__(self):
        return type(self).__name__ + "()"


class _InverseTransform(Transform):
    def __init__(self, of):
        super().__init__()
        self._of, self.event = of, of.event

    domain = property(lambda self: self._of.codomain)
    codomain = property(lambda self: self._of.domain)

    @property
    def inv(self):
        return self._of

    def __repr__(self):
        return f"{type(self).__name__[1:]}Transform({self._of!r})"

    def _call(self, x):
        return self._of._inv_call(x)

    def _inverse(self, y):
        return self._of(y)

    def forward_shape(self, shape):
        return self._of.inverse_shape(shape)

    def inverse_shape(self, shape):
        return self._of.forward_shape(shape)

    def log_abs_det_jacobian(self, x, y):
        return -self._of.log_abs_det_jacobian(y, x)


class ExpTransform(Transform):
    codomain = constraints.positive

    def _call(self, x):
        return x.exp()

    def _inverse(self, y):
        return y.log()

    def log_abs_det_jacobian(self, x, y):
        return x


class AffineTransform(Transform):
    def __init__(self, loc, scale, event_dim=0, cache_size=0):
        super().__init__(cache_size)
        self.loc, self.scale, self.event = loc, scale, event_dim

    @property
    def domain(self):
        return constraints.independent(constraints.real, self.event) if self.event else constraints.real

    codomain = domain

    @property
    def sign(self):
        return (self.scale > 0) - (self.scale < 0) if isinstance(self.scale, (int, float)) else self.scale.sign()

    def _call(self, x):
        return self.loc + self.scale * x

    def _inverse(self, y):
        return (y - self.loc) / self.scale

    def log_abs_det_jacobian(self, x, y):
        scale = self.scale
        made = x * 0 + (math.log(abs(scale)) if isinstance(scale, (int, float)) else scale.abs().log())
        return made.sum(tuple(range(-self.event, 0))) if self.event else made


class SigmoidTransform(Transform):
    codomain = constraints.unit_interval

    def _call(self, x):
        return _ops["sigmoid"](x).clamp(1.1754943508222875e-38, 1.0 - 1.1920928955078125e-07)

    def _inverse(self, y):
        y = y.clamp(1.1754943508222875e-38, 1.0 - 1.1920928955078125e-07)
        return y.log() - _ops["log1p"](-y)

    def log_abs_det_jacobian(self, x, y):
        return -_ops["softplus"](-x) - _ops["softplus"](x)


class TanhTransform(Transform):
    codomain = constraints.interval(-1.0, 1.0)

    def _call(self, x):
        return x.tanh()

    def _inverse(self, y):
        return _ops["atanh"](y)

    def log_abs_det_jacobian(self, x, y):
        return 2.0 * (math.log(2.0) - x - _ops["softplus"](-2.0 * x))


class SoftplusTransform(Transform):
    codomain = constraints.positive

    def _call(self, x):
        return _ops["softplus"](x)

    def _inverse(self, y):
        return (-y).expm1().neg().log() + y

    def log_abs_det_jacobian(self, x, y):
        return -_ops["softplus"](-x)


class PowerTransform(Transform):
    domain = codomain = constraints.positive

    def __init__(self, exponent, cache_size=0):
        super().__init__(cache_size)
        self.exponent = exponent

    def _call(self, x):
        return x.pow(self.exponent)

    def _inverse(self, y):
        return y.pow(1 / self.exponent)

    def log_abs_det_jacobian(self, x, y):
        return (self.exponent * y / x).abs().log()


class AbsTransform(Transform):
    bijective, codomain = False, constraints.positive

    def _call(self, x):
        return x.abs()

    def _inverse(self, y):
        return y


class SoftmaxTransform(Transform):
    bijective, event = False, 1
    domain, codomain = constraints.real_vector, constraints.simplex

    def _call(self, x):
        return x.softmax(-1)

    def _inverse(self, y):
        return y.log()


class StickBreakingTransform(Transform):
    """From the plane to the simplex: every number says which share of what is left its part takes."""

    event, domain, codomain = 1, constraints.real_vector, constraints.simplex

    @staticmethod
    def _offset(x):
        n = x.shape[-1]
        return (n + 1 - _C.arange(1, n + 1, 1, None).to(x.dtype)).log()

    def _call(self, x):
        z = _ops["sigmoid"](x - self._offset(x))
        left = _ops["cumprod"](1 - z, -1)
        return _ops["cat"]([z, left[..., -1:] * 0 + 1], -1) * _ops["cat"]([left[..., :1] * 0 + 1, left], -1)

    def _inverse(self, y):
        left = (1 - _ops["cumsum"](y[..., :-1], -1)).clamp(min=1.1754943508222875e-38)
        return y[..., :-1].log() - left.log() + self._offset(y[..., :-1])

    def forward_shape(self, shape):
        return tuple(shape[:-1]) + (shape[-1] + 1,)

    def inverse_shape(self, shape):
        return tuple(shape[:-1]) + (shape[-1] - 1,)

    def log_abs_det_jacobian(self, x, y):
        x = x - self._offset(x)
        return (-x - _ops["softplus"](-x) + y[..., :-1].log()).sum(-1)


class IndependentTransform(Transform):
    def __init__(self, base_transform, reinterpreted_batch_ndims, cache_size=0):
        super().__init__(cache_size)
        self.base_transform, self._more = base_transform, reinterpreted_batch_ndims
        self.event = base_transform.event + reinterpreted_batch_ndims

    domain = property(lambda self: constraints.independent(self.base_transform.domain, self._more))
    codomain = property(lambda self: constraints.independent(self.base_transform.codomain, self._more))

    def __repr__(self):
        return f"{type(self).__name__}({self.base_transform!r}, {self._more})"

    def _call(self, x):
        return self.base_transform(x)

    def _inverse(self, y):
        return self.base_transform._inv_call(y)

    def log_abs_det_jacobian(self, x, y):
        made = self.base_transform.log_abs_det_jacobian(x, y)
        return made.sum(tuple(range(-self._more, 0))) if self._more else made


class ReshapeTransform(Transform):
    def __init__(self, in_shape, out_shape, cache_size=0):
        super().__init__(cache_size)
        self.in_shape, self.out_shape, self.event = tuple(in_shape), tuple(out_shape), len(in_shape)

    domain = property(lambda self: constraints.independent(constraints.real, len(self.in_shape)))
    codomain = property(lambda self: constraints.independent(constraints.real, len(self.out_shape)))

    def _call(self, x):
        return x.reshape(tuple(x.shape[:x.dim() - len(self.in_shape)]) + self.out_shape)

    def _inverse(self, y):
        return y.reshape(tuple(y.shape[:y.dim() - len(self.out_shape)]) + self.in_shape)

    def forward_shape(self, shape):
        return tuple(shape[:len(shape) - len(self.in_shape)]) + self.out_shape

    def inverse_shape(self, shape):
        return tuple(shape[:len(shape) - len(self.out_shape)]) + self.in_shape

    def log_abs_det_jacobian(self, x, y):
        return _C.full(x.shape[:x.dim() - len(self.in_shape)], 0.0, x.dtype)


class ComposeTransform(Transform):
    def __init__(self, parts, cache_size=0):
        super().__init__(cache_size)
        self.parts = list(parts)
        self.event = max([p.event for p in self.parts] + [0])

    def _end(self, constraint):
        more = self.event - constraint.event_dim
        return constraints.independent(constraint, more) if more > 0 else constraint

    domain = property(lambda self: self._end(self.parts[0].domain) if self.parts else constraints.real)
    codomain = property(lambda self: self._end(self.parts[-1].codomain) if self.parts else constraints.real)

    def __repr__(self):
        return f"{type(self).__name__}(\n    " + ",\n    ".join([repr(p) for p in self.parts]) + "\n)"

    def _call(self, x):
        for part in self.parts:
            x = part(x)
        return x

    def _inverse(self, y):
        for part in reversed(self.parts):
            y = part._inv_call(y)
        return y

    def log_abs_det_jacobian(self, x, y):
        total = 0 if self.parts else x * 0
        for part in self.parts:
            y = part(x)
            made = part.log_abs_det_jacobian(x, y)
            extra = self.event - part.event
            total = total + (made.sum(tuple(range(-extra, 0))) if extra else made)
            x = y
        return total


class TransformedDistribution(Distribution):
    def __init__(self, base_distribution, transforms, validate_args=None):
        self.transforms = [transforms] if isinstance(transforms, Transform) else list(transforms)
        self.base_dist = base_distribution
        self.has_rsample = base_distribution.has_rsample
        whole = tuple(base_distribution.batch_shape) + tuple(base_distribution.event_shape)
        for t in self.transforms:
            whole = t.forward_shape(whole)
        event = max([len(base_distribution.event_shape)] + [t.event for t in self.transforms])
        super().__init__(whole[:len(whole) - event], whole[len(whole) - event:], validate_args)

    @no_grad()
    def sample(self, sample_shape=()):
        x = self.base_dist.sample(sample_shape)
        for t in self.transforms:
            x = t(x)
        return x

    def rsample(self, sample_shape=()):
        x = self.base_dist.rsample(sample_shape)
        for t in self.transforms:
            x = t(x)
        return x

    def log_prob(self, value):
        self._validate_sample(value)
        event, total, y = len(self.event_shape), 0.0, value
        for t in reversed(self.transforms):
            x = t._inv_call(y)
            made = t.log_abs_det_jacobian(x, y)
            extra = event - t.event
            total = total - (made.sum(tuple(range(-extra, 0))) if extra else made)
            y = x
        base = self.base_dist.log_prob(y)
        extra = event - len(self.base_dist.event_shape)
        return total + (base.sum(tuple(range(-extra, 0))) if extra else base)

    def _monotone(self):
        sign = 1
        for t in self.transforms:
            sign = sign * t.sign
        return sign

    def cdf(self, value):
        for t in reversed(self.transforms):
            value = t._inv_call(value)
        made, sign = self.base_dist.cdf(value), self._monotone()
        return made if isinstance(sign, int) and sign == 1 else sign * (made - 0.5) + 0.5

    def icdf(self, value):
        sign = self._monotone()
        value = value if isinstance(sign, int) and sign == 1 else sign * (value - 0.5) + 0.5
        value = self.base_dist.icdf(value)
        for t in self.transforms:
            value = t(value)
        return value

    @constraints.dependent_property
    def support(self):
        if not self.transforms:
            return self.base_dist.support
        support, more = self.transforms[-1].codomain, len(self.event_shape) - self.transforms[-1].codomain.event_dim
        return constraints.independent(support, more) if more > 0 else support
