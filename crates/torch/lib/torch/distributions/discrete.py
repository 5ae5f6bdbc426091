"""Distributions of classes and counts."""

import math
from torch import _C, Size, finfo
from torch._C import Tensor
from torch._functions import broadcast_tensors
from torch.autograd import enable_grad, no_grad
from torch.distributions import constraints
from torch.distributions.distribution import Distribution, _tensors
from torch.nn import functional as F

_ops = _C._ops


def _clamped(probs):
    # Wide numbers are computed as float32: a smaller distance from one would be none.
    eps = max(finfo(probs.dtype).eps, 2.0 ** -23)
    return probs.clamp(eps, 1 - eps)


def _one_of(probs, logits):
    if (probs is None) == (logits is None):
        raise ValueError("Either `probs` or `logits` must be specified, but not both.")


class Bernoulli(Distribution):
    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.boolean
    has_enumerate_support = True

    def __init__(self, probs=None, logits=None, validate_args=None):
        _one_of(probs, logits)
        (value,), shape = _tensors(logits if probs is None else probs)
        self.__dict__["logits" if probs is None else "probs"] = value
        super().__init__(shape, validate_args=validate_args)

    def __getattr__(self, name):
        if name == "probs":
            with enable_grad():
                value = _ops["sigmoid"](self.__dict__["logits"])
        elif name == "logits":
            with enable_grad():
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
    def mode(self):
        mode = (self.probs >= 0.5).to(self.probs.dtype)
        return _ops["where"](self.probs == 0.5, float("nan"), mode)

    @property
    def variance(self):
        return self.probs * (1 - self.probs)

    @property
    def param_shape(self):
        return self.__dict__["probs" if "probs" in self.__dict__ else "logits"].size()

    def enumerate_support(self, expand=True):
        kind = self.__dict__["probs" if "probs" in self.__dict__ else "logits"].dtype
        values = _C.arange(0, 2, 1, None).to(kind).reshape([-1] + [1] * len(self._batch_shape))
        return values.expand([2] + list(self._batch_shape)) if expand else values

    @no_grad()
    def sample(self, sample_shape=()):
        return _C.bernoulli_of(self.probs.expand(self._extended_shape(sample_shape)), None)

    def log_prob(self, value):
        self._validate_sample(value)
        logits, value = broadcast_tensors(self.logits, value)
        return -F.binary_cross_entropy_with_logits(logits, value, reduction="none")

    def entropy(self):
        return F.binary_cross_entropy_with_logits(self.logits, self.probs, reduction="none")


class Geometric(Bernoulli):
    support = constraints.nonnegative_integer
    has_enumerate_support = False
    enumerate_support = Distribution.enumerate_support

    def __init__(self, probs=None, logits=None, validate_args=None):
        super().__init__(probs, logits, validate_args)
        given = self.__dict__.get("probs")
        if self._validate_args and given is not None and not (given > 0).all():
            raise ValueError(f"Expected parameter probs ({type(given).__name__} of shape {tuple(given.shape)}) of distribution {self!r} to be "
                             f"positive but found invalid values:\n{given}")

    @property
    def mean(self):
        return 1.0 / self.probs - 1.0

    @property
    def mode(self):
        return self.probs * 0

    @property
    def variance(self):
        return (1.0 / self.probs - 1.0) / self.probs

    @no_grad()
    def sample(self, sample_shape=()):
        tiny = finfo(self.probs.dtype).tiny
        u = _C.uniform(self._extended_shape(sample_shape), tiny, 1, self.probs.dtype, None)
        return (u.log() / _ops["log1p"](-self.probs)).floor()

    def log_prob(self, value):
        self._validate_sample(value)
        never = _ops["where"]((self.probs == 1) & (value == 0), 0.0, -self.probs)
        return value * _ops["log1p"](never) + self.probs.log()

    def entropy(self):
        return F.binary_cross_entropy_with_logits(self.logits, self.probs, reduction="none") / self.probs


class Categorical(Distribution):
    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}
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
        with enable_grad():
            if name == "probs":
                self.probs = _ops["softmax"](self.__dict__["logits"], -1)
                return self.probs
            if name == "logits":
                self.logits = _clamped(self.__dict__["probs"]).log()
                return self.logits
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    @constraints.dependent_property(is_discrete=True, event_dim=0)
    def support(self):
        return constraints.integer_interval(0, self._num_events - 1)

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
        self._validate_sample(value)
        value = value.to(_C.int64).unsqueeze(-1)
        shape = list((value + self.logits.detach()[..., :1].to(_C.int64) * 0).shape[:-1])
        logits = self.logits.expand(shape + [n])
        return logits.gather(-1, value.expand(shape + [1])).squeeze(-1)

    def entropy(self):
        logits = self.logits.clamp(max(finfo(self.logits.dtype).min, -3.4e38))
        return -(logits * self.probs).sum(-1)

    def enumerate_support(self, expand=True):
        values = _C.arange(0, self._num_events, 1, _C.int64).reshape([-1] + [1] * len(self._batch_shape))
        return values.expand([self._num_events] + list(self._batch_shape)) if expand else values


class OneHotCategorical(Distribution):
    arg_constraints = Categorical.arg_constraints
    support = constraints.one_hot
    has_enumerate_support = True

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

    @property
    def mode(self):
        return _ops["one_hot"](self.probs.argmax(-1), self._categorical._num_events).to(self.probs.dtype)

    @property
    def variance(self):
        return self.probs * (1 - self.probs)

    @property
    def param_shape(self):
        return self._categorical.param_shape

    def enumerate_support(self, expand=True):
        n = self._categorical._num_events
        values = _ops["eye"](n).to(self.probs.dtype).reshape([n] + [1] * len(self._batch_shape) + [n])
        return values.expand([n] + list(self._batch_shape) + [n]) if expand else values

    @no_grad()
    def sample(self, sample_shape=()):
        drawn = self._categorical.sample(sample_shape)
        return _ops["one_hot"](drawn, self._categorical._num_events).to(self.probs.dtype)

    def log_prob(self, value):
        self._validate_sample(value)
        return self._categorical.log_prob(value.argmax(-1))

    def entropy(self):
        return self._categorical.entropy()


class OneHotCategoricalStraightThrough(OneHotCategorical):
    has_rsample = True

    def rsample(self, sample_shape=()):
        drawn = self.sample(sample_shape)
        return drawn + (self.probs - self.probs.detach())


def _tail(k):
    """Stirling's series for log(k!), what it leaves of small numbers by a table (Hoermann, 1993)."""
    if k <= 9:
        return (0.0810614667953272, 0.0413406959554092, 0.0276779256849983, 0.02079067210376509, 0.0166446911898211, 0.0138761288230707,
                0.0118967099458917, 0.0104112652619720, 0.00925546218271273, 0.00833056343336287)[int(k)]
    square = (k + 1) * (k + 1)
    return (1.0 / 12 - (1.0 / 360 - 1.0 / 1260 / square) / square) / (k + 1)


def _drawn(count, p):
    """ATen/native/Distributions.h, sample_binomial: by waiting times, or by transformed rejection (BTRS) where many are expected."""
    if count <= 0 or p <= 0:
        return 0.0
    if p >= 1:
        return float(count)
    if p > 0.5:
        return count - _drawn(count, 1.0 - p)
    if count * p < 10:
        passed, found, log = 0.0, 0, math.log1p(-p)
        while True:
            passed += math.ceil(math.log(_C.uniform64()) / log)
            if passed > count:
                return float(found)
            found += 1
    deviation = math.sqrt(count * p * (1 - p))
    b = 1.15 + 2.53 * deviation
    a, c, v_r, r = -0.0873 + 0.0248 * b + 0.01 * p, count * p + 0.5, 0.92 - 4.2 / b, p / (1 - p)
    alpha, m = (2.83 + 5.1 / b) * deviation, math.floor((count + 1) * p)
    while True:
        u, v = _C.uniform64() - 0.5, _C.uniform64()
        us = 0.5 - abs(u)
        k = math.floor((2 * a / us + b) * u + c)
        if us >= 0.07 and v <= v_r:
            return float(k)
        if k < 0 or k > count:
            continue
        v = math.log(v * alpha / (a / (us * us) + b))
        bound = ((m + 0.5) * math.log((m + 1) / (r * (count - m + 1))) + (count + 1) * math.log((count - m + 1) / (count - k + 1))
                 + (k + 0.5) * math.log(r * (count - k + 1) / (k + 1)) + _tail(m) + _tail(count - m) - _tail(k) - _tail(count - k))
        if v <= bound:
            return float(k)


def binomial(count, prob, generator=None):
    count, prob = _ops["add"](count, prob * 0), _ops["add"](prob, count * 0)
    return _C.tensor([_drawn(n, p) for n, p in zip(_C.values(count), _C.values(prob))], prob.dtype).reshape(prob.shape)


class Binomial(Bernoulli):
    arg_constraints = {"total_count": constraints.nonnegative_integer, **Bernoulli.arg_constraints}

    def __init__(self, total_count=1, probs=None, logits=None, validate_args=None):
        _one_of(probs, logits)
        (value, count), shape = _tensors(logits if probs is None else probs, total_count)
        self.__dict__["logits" if probs is None else "probs"] = value
        self.total_count = count.to(value.dtype)
        Distribution.__init__(self, shape, validate_args=validate_args)

    @constraints.dependent_property(is_discrete=True, event_dim=0)
    def support(self):
        return constraints.integer_interval(0, self.total_count)

    @property
    def mean(self):
        return self.total_count * self.probs

    @property
    def mode(self):
        return ((self.total_count + 1) * self.probs).floor().clamp(max=self.total_count)

    @property
    def variance(self):
        return self.total_count * self.probs * (1 - self.probs)

    @no_grad()
    def sample(self, sample_shape=()):
        shape = self._extended_shape(sample_shape)
        return binomial(self.total_count.expand(shape), self.probs.expand(shape))

    def log_prob(self, value):
        self._validate_sample(value)
        n, x = self.total_count, self.logits
        chosen = _ops["lgamma"](n + 1) - _ops["lgamma"](value + 1) - _ops["lgamma"](n - value + 1)
        # Half of it each way at zero, as softplus has it.
        return chosen + value * x - n * 0.5 * (x.clamp(min=0) + x - x.clamp(max=0)) - n * _ops["log1p"](_ops["exp"](-x.abs()))

    def entropy(self):
        values = self.enumerate_support(False)
        each = self.log_prob(values)
        return -(each.exp() * each).sum(0)

    def enumerate_support(self, expand=True):
        n = int(self.total_count.max().item())
        if not bool((self.total_count == n).all()):
            raise NotImplementedError("Inhomogeneous total count not supported by `enumerate_support`.")
        values = _C.arange(0, n + 1, 1, None).to(self.probs.dtype).reshape([-1] + [1] * len(self.batch_shape))
        return values.expand([n + 1] + list(self.batch_shape)) if expand else values
