"""Numbers between 0 and 1 with the density of Bernoulli's likelihood (Loaiza-Ganem and Cunningham, 2019)."""

import math
from torch import _C
from torch._functions import broadcast_tensors
from torch.distributions import constraints
from torch.distributions.discrete import Bernoulli, _clamped, _one_of
from torch.distributions.distribution import Distribution, _tensors
from torch.nn import functional as F

_ops = _C._ops


class ContinuousBernoulli(Distribution):
    has_rsample = True
    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.unit_interval

    def __init__(self, probs=None, logits=None, lims=(0.499, 0.501), validate_args=None):
        _one_of(probs, logits)
        (value,), shape = _tensors(logits if probs is None else probs)
        if probs is not None and (self._validate_args if validate_args is None else validate_args):
            if not self.arg_constraints["probs"].check(value.detach()).all().item():
                raise ValueError("The parameter probs has invalid values")
        self.__dict__["logits" if probs is None else "probs"] = value if probs is None else _clamped(value)
        # Between these the closed forms divide by almost nothing, and Taylor's series stand for them.
        self._lims = lims
        super().__init__(shape, validate_args=validate_args)

    def __getattr__(self, name):
        if name == "probs":
            self.probs = _clamped(_ops["sigmoid"](self.__dict__["logits"]))
            return self.probs
        return Bernoulli.__getattr__(self, name)

    def _apart(self):
        """Whether the closed forms hold, and probabilities for which they do."""
        low, high = self._lims
        apart = (self.probs <= low) | (self.probs > high)
        return apart, _ops["where"](apart, self.probs, low)

    def _log_norm(self):
        apart, p = self._apart()
        below, above = _ops["where"](p <= 0.5, p, 0.0), _ops["where"](p >= 0.5, p, 1.0)
        odds = ((-p).log1p() - p.log()).abs().log()
        x = (self.probs - 0.5).square()
        whole = odds - _ops["where"](p <= 0.5, (-2.0 * below).log1p(), (2.0 * above - 1.0).log())
        return _ops["where"](apart, whole, math.log(2.0) + (4.0 / 3.0 + 104.0 / 45.0 * x) * x)

    @property
    def mean(self):
        apart, p = self._apart()
        x = self.probs - 0.5
        return _ops["where"](apart, p / (2.0 * p - 1.0) + 1.0 / ((-p).log1p() - p.log()), 0.5 + (1.0 / 3.0 + 16.0 / 45.0 * x.square()) * x)

    @property
    def variance(self):
        apart, p = self._apart()
        x = (self.probs - 0.5).square()
        whole = p * (p - 1.0) / (1.0 - 2.0 * p).square() + 1.0 / ((-p).log1p() - p.log()).square()
        return _ops["where"](apart, whole, 1.0 / 12.0 - (1.0 / 15.0 - 128.0 / 945.0 * x) * x)

    def rsample(self, sample_shape=()):
        return self.icdf(_C.uniform(self._extended_shape(sample_shape), 0.0, 1.0, self.probs.dtype, None))

    def log_prob(self, value):
        self._validate_sample(value)
        logits, value = broadcast_tensors(self.logits, value)
        return -F.binary_cross_entropy_with_logits(logits, value, reduction="none") + self._log_norm()

    def cdf(self, value):
        self._validate_sample(value)
        apart, p = self._apart()
        whole = (p.pow(value) * (1.0 - p).pow(1.0 - value) + p - 1.0) / (2.0 * p - 1.0)
        return _ops["where"](apart, whole, value).clamp(0.0, 1.0)

    def icdf(self, value):
        apart, p = self._apart()
        whole = ((-p + value * (2.0 * p - 1.0)).log1p() - (-p).log1p()) / (p.log() - (-p).log1p())
        return _ops["where"](apart, whole, value)

    def entropy(self):
        no, yes = (-self.probs).log1p(), self.probs.log()
        return self.mean * (no - yes) - self._log_norm() - no
