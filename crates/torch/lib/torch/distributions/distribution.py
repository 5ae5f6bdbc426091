"""The base of distributions."""

import copy
from torch import _C, Size
from torch._C import Tensor
from torch._functions import broadcast_shapes
from torch.autograd import no_grad

_ops = _C._ops


def _tensors(*values):
    """Parameters as tensors of one shape; whether all of them were numbers."""
    numbers = all([not isinstance(v, Tensor) for v in values])
    kinds = [v.dtype for v in values if isinstance(v, Tensor)]
    kind = kinds[0] if kinds else _C.get_default_dtype()
    made = [v if isinstance(v, Tensor) else _C.tensor(float(v), kind) for v in values]
    shape = broadcast_shapes(*[v.shape for v in made])
    return [v if tuple(v.shape) == tuple(shape) else v.expand(shape) for v in made], Size(() if numbers else shape)


class Distribution:
    has_rsample = False
    has_enumerate_support = False
    # Parameters by name with the constraint that PyTorch names in its error, and the check of their values.
    _parameters = ()
    _validate = True
    # Whether they are printed: PyTorch's distributions that are others transformed print none.
    _shown = True
    # Attributes that all distributions of a batch have together.
    _shared = ()

    def __init__(self, batch_shape=(), event_shape=(), validate_args=None):
        self._batch_shape, self._event_shape = Size(batch_shape), Size(event_shape)
        if validate_args is not None:
            self._validate = validate_args
        if self._validate:
            for name, constraint, check in self._parameters:
                value = self.__dict__.get(name)
                if isinstance(value, Tensor) and not check(value.detach()).all().item():
                    raise ValueError(
                        f"Expected parameter {name} ({type(value).__name__} of shape {tuple(value.shape)}) of distribution {self!r} to "
                        f"satisfy the constraint {constraint}, but found invalid values:\n{value}")

    @staticmethod
    def set_default_validate_args(value):
        Distribution._validate = value

    @property
    def batch_shape(self):
        return self._batch_shape

    @property
    def event_shape(self):
        return self._event_shape

    def _extended_shape(self, sample_shape=()):
        return Size(tuple(sample_shape) + tuple(self._batch_shape) + tuple(self._event_shape))

    def expand(self, batch_shape):
        """The same distributions, repeated: parameters of the batch's shape, and distributions that this one is made of."""
        new, old = copy.copy(self), tuple(self._batch_shape)
        for name, value in self.__dict__.items():
            if name in self._shared:
                continue
            if isinstance(value, Tensor) and tuple(value.shape[:len(old)]) == old:
                new.__dict__[name] = value.expand(tuple(batch_shape) + tuple(value.shape[len(old):]))
            elif isinstance(value, Distribution):
                new.__dict__[name] = value.expand(tuple(batch_shape) + tuple(value._batch_shape[len(old):]))
        new._batch_shape = Size(batch_shape)
        return new

    @no_grad()
    def sample(self, sample_shape=()):
        return self.rsample(sample_shape)

    def rsample(self, sample_shape=()):
        raise NotImplementedError(f"{type(self).__name__}.rsample")

    def log_prob(self, value):
        raise NotImplementedError(f"{type(self).__name__}.log_prob")

    def entropy(self):
        raise NotImplementedError(f"{type(self).__name__}.entropy")

    def cdf(self, value):
        raise NotImplementedError(f"{type(self).__name__}.cdf")

    def icdf(self, value):
        raise NotImplementedError(f"{type(self).__name__}.icdf")

    @property
    def mean(self):
        raise NotImplementedError

    @property
    def mode(self):
        raise NotImplementedError(f"{type(self).__name__} does not implement mode")

    @property
    def variance(self):
        raise NotImplementedError

    @property
    def stddev(self):
        return self.variance.sqrt()

    def perplexity(self):
        return self.entropy().exp()

    def _check_sample(self, value, constraint, good):
        if self._validate and not good(value.detach()).all().item():
            raise ValueError(
                f"Expected value argument ({type(value).__name__} of shape {tuple(value.shape)}) to be within the support "
                f"({constraint}) of the distribution {self!r}, but found invalid values:\n{value}")

    def __repr__(self):
        parts = []
        for name, _, _ in self._parameters:
            value = self.__dict__.get(name)
            if value is not None and self._shown:
                parts.append(f"{name}: {value if value.numel() == 1 else value.size()}")
        return f"{type(self).__name__}({', '.join(parts)})"


def _real(x):
    return x == x


def _positive(x):
    return x > 0


def _unit(x):
    return (x >= 0) & (x <= 1)
