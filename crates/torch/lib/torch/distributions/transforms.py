"""Invertible functions of random variables, and distributions made by them."""

from torch import _C
from torch.distributions.distribution import Distribution
from torch.autograd import no_grad
import math

_ops = _C._ops


class Transform:
    """`y = f(x)` with its inverse and the logarithm of its derivative. `event` counts the dimensions that one value has."""

    bijective, event, sign = True, 0, 1

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
        return _Inverse(self)

    def _inv_call(self, y):
        return self._last[0] if self._cache_size and y is self._last[1] else self._inverse(y)

    def __repr__(self):
        return type(self).__name__ + "()"


class _Inverse(Transform):
    def __init__(self, of):
        super().__init__()
        self._of, self.event = of, of.event

    @property
    def inv(self):
        return self._of

    def _call(self, x):
        return self._of._inv_call(x)

    def _inverse(self, y):
        return self._of(y)

    def log_abs_det_jacobian(self, x, y):
        return -self._of.log_abs_det_jacobian(y, x)


class ExpTransform(Transform):
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

    def _call(self, x):
        return self.loc + self.scale * x

    def _inverse(self, y):
        return (y - self.loc) / self.scale

    def log_abs_det_jacobian(self, x, y):
        scale = self.scale
        made = x * 0 + (math.log(abs(scale)) if isinstance(scale, (int, float)) else scale.abs().log())
        return made.sum(tuple(range(-self.event, 0))) if self.event else made


class SigmoidTransform(Transform):
    def _call(self, x):
        return _ops["sigmoid"](x).clamp(1.1754943508222875e-38, 1.0 - 1.1920928955078125e-07)

    def _inverse(self, y):
        y = y.clamp(1.1754943508222875e-38, 1.0 - 1.1920928955078125e-07)
        return y.log() - _ops["log1p"](-y)

    def log_abs_det_jacobian(self, x, y):
        return -_ops["softplus"](-x) - _ops["softplus"](x)


class TanhTransform(Transform):
    def _call(self, x):
        return x.tanh()

    def _inverse(self, y):
        return _ops["atanh"](y)

    def log_abs_det_jacobian(self, x, y):
        return 2.0 * (math.log(2.0) - x - _ops["softplus"](-2.0 * x))


class SoftplusTransform(Transform):
    def _call(self, x):
        return _ops["softplus"](x)

    def _inverse(self, y):
        return (-y).expm1().neg().log() + y

    def log_abs_det_jacobian(self, x, y):
        return -_ops["softplus"](-x)


class PowerTransform(Transform):
    def __init__(self, exponent, cache_size=0):
        super().__init__(cache_size)
        self.exponent = exponent

    def _call(self, x):
        return x.pow(self.exponent)

    def _inverse(self, y):
        return y.pow(1 / self.exponent)

    def log_abs_det_jacobian(self, x, y):
        return (self.exponent * y / x).abs().log()


class ComposeTransform(Transform):
    def __init__(self, parts, cache_size=0):
        super().__init__(cache_size)
        self.parts = list(parts)
        self.event = max([p.event for p in self.parts] + [0])

    def _call(self, x):
        for part in self.parts:
            x = part(x)
        return x

    def _inverse(self, y):
        for part in reversed(self.parts):
            y = part._inv_call(y)
        return y

    def log_abs_det_jacobian(self, x, y):
        total = 0
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

    def __repr__(self):
        return "TransformedDistribution()"
