"""Distributions of classes and counts."""

from torch import _C, Size, finfo
from torch._C import Tensor
from torch.autograd import no_grad
from torch.distributions.distribution import Distribution, _real, _tensors, _unit
from torch.nn import functional as F

_ops = _C._ops


def _clamped(probs):
    eps = finfo(probs.dtype).eps
    return probs.clamp(eps, 1 - eps)


def _one_of(probs, logits):
    if (probs is None) == (logits is None):
        raise ValueError("Either `probs` or `logits` must be specified, but not both.")


class Bernoulli(Distribution):
    _parameters = (("probs", "Interval(lower_bound=0.0, upper_bound=1.0)", _unit), ("logits", "Real()", _real))

    def __init__(self, probs=None, logits=None, validate_args=None):
        _one_of(probs, logits)
        (value,), shape = _tensors(logits if probs is None else probs)
        self.__dict__["logits" if probs is None else "probs"] = value
        super().__init__(shape, validate_args=validate_args)

    def __getattr__(self, name):
        if name == "probs":
            value = _ops["sigmoid"](self.__dict__["logits"])
        elif name == "logits":
            probs = _clamped(self.__dict__["probs"])
            value = probs.log() - _ops["log1p"](-probs)
        else:
            raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")
        self.__dict__[name] = value
        return value

    @property
    def mean(self):
        return self.probs

    @property
    def variance(self):
        return self.probs * (1 - self.probs)

    @no_grad()
    def sample(self, sample_shape=()):
        return _C.bernoulli_of(self.probs.expand(self._extended_shape(sample_shape)), None)

    def log_prob(self, value):
        self._check_sample(value, "Boolean()", lambda v: (v == 0) | (v == 1))
        logits, value = self.logits + value * 0, value + self.logits.detach() * 0
        return -F.binary_cross_entropy_with_logits(logits, value, reduction="none")

    def entropy(self):
        return F.binary_cross_entropy_with_logits(self.logits, self.probs, reduction="none")


class Geometric(Bernoulli):
    @property
    def mean(self):
        return 1.0 / self.probs - 1.0

    @property
    def variance(self):
        return (1.0 / self.probs - 1.0) / self.probs

    @no_grad()
    def sample(self, sample_shape=()):
        tiny = finfo(self.probs.dtype).tiny
        u = _C.uniform(self._extended_shape(sample_shape), tiny, 1, self.probs.dtype, None)
        return (u.log() / _ops["log1p"](-self.probs)).floor()

    def log_prob(self, value):
        return value * _ops["log1p"](-self.probs) + self.probs.log()

    def entropy(self):
        return F.binary_cross_entropy_with_logits(self.logits, self.probs, reduction="none") / self.probs


class Categorical(Distribution):
    _parameters = (("probs", "Simplex()", lambda p: (p >= 0) & ((p.sum(-1, True) - 1).abs() < 1e-6)),
                   ("logits", "IndependentConstraint(Real(), 1)", _real))
    has_enumerate_support = True

    def __init__(self, probs=None, logits=None, validate_args=None):
        _one_of(probs, logits)
        given = logits if probs is None else probs
        if given.dim() < 1:
            raise ValueError(f"`{'logits' if probs is None else 'probs'}` parameter must be at least one-dimensional.")
        if probs is None:
            self.logits = logits - logits.logsumexp(-1, True)
        else:
            self.probs = probs / probs.sum(-1, True)
        self._num_events = given.shape[-1]
        super().__init__(given.shape[:-1], validate_args=validate_args)

    def __getattr__(self, name):
        if name == "probs":
            self.probs = _ops["softmax"](self.__dict__["logits"], -1)
            return self.probs
        if name == "logits":
            self.logits = _clamped(self.__dict__["probs"]).log()
            return self.logits
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    @property
    def param_shape(self):
        return self.probs.size()

    @property
    def mean(self):
        return _C.full(self._extended_shape(), float("nan"), self.probs.dtype)

    variance = mean

    @property
    def mode(self):
        return self.probs.argmax(-1)

    @no_grad()
    def sample(self, sample_shape=()):
        n = Size(tuple(sample_shape)).numel()
        drawn = _C.multinomial(self.probs.detach().reshape(-1, self._num_events), n, True, None)
        return drawn.T.reshape(self._extended_shape(sample_shape))

    def _index(self, value):
        return value.to(_C.int64)

    def log_prob(self, value):
        n = self._num_events
        self._check_sample(value, f"IntegerInterval(lower_bound=0, upper_bound={n - 1})", lambda v: (v >= 0) & (v < n))
        value = value.to(_C.int64).unsqueeze(-1)
        shape = list((value + self.logits.detach()[..., :1].to(_C.int64) * 0).shape[:-1])
        logits = self.logits.expand(shape + [n])
        return logits.gather(-1, value.expand(shape + [1])).squeeze(-1)

    def entropy(self):
        logits = self.logits.clamp(finfo(self.logits.dtype).min)
        return -(logits * self.probs).sum(-1)

    def enumerate_support(self, expand=True):
        values = _C.arange(0, self._num_events, 1, _C.int64).reshape([-1] + [1] * len(self._batch_shape))
        return values.expand([self._num_events] + list(self._batch_shape)) if expand else values


class OneHotCategorical(Distribution):
    def __init__(self, probs=None, logits=None, validate_args=None):
        self._categorical = Categorical(probs, logits, validate_args)
        super().__init__(self._categorical.batch_shape, (self._categorical._num_events,))

    @property
    def probs(self):
        return self._categorical.probs

    @property
    def logits(self):
        return self._categorical.logits

    mean = probs

    @no_grad()
    def sample(self, sample_shape=()):
        drawn = self._categorical.sample(sample_shape)
        return _ops["one_hot"](drawn, self._categorical._num_events).to(self.probs.dtype)

    def log_prob(self, value):
        return self._categorical.log_prob(value.argmax(-1))

    def entropy(self):
        return self._categorical.entropy()


class OneHotCategoricalStraightThrough(OneHotCategorical):
    has_rsample = True

    def rsample(self, sample_shape=()):
        return self.sample(sample_shape) + (self.probs - self.probs.detach())
