"""The base of distributions."""

import copy
from torch import _C, Size
from torch._C import Tensor
from torch._functions import broadcast_shapes
from torch.autograd import no_grad
from torch.distributions import constraints

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
    # What each parameter may be, by its name; those that an instance was given are shown by it.
    arg_constraints = {}
    _validate_args = True
    # Attributes that all distributions of a batch have together.
    _shared = ()

    def __init__(self, batch_shape=(), event_shape=(), validate_args=None):
        self._batch_shape, self._event_shape = Size(batch_shape), Size(event_shape)
        if validate_args is not None:
            self._validate_args = validate_args
        if self._validate_args:
            for name, constraint in self.arg_constraints.items():
                value = self.__dict__.get(name)
                if isinstance(value, Tensor) and not constraint.check(value.detach()).all().item():
                    raise ValueError(
                        f"Expected parameter {name} ({type(value).__name__} of shape {tuple(value.shape)}) of distribution {self!r} to "
                        f"satisfy the constraint {constraint!r}, but found invalid values:\n{value}")

    @staticmethod
    def set_default_validate_args(value):
        Distribution._validate_args = value

    @property
    def batch_shape(self):
        return self._batch_shape

    @property
    def event_shape(self):
        return self._event_shape

    def _extended_shape(self, sample_shape=()):
        return Size(tuple(sample_shape) + tuple(self._batch_shape) + tuple(self._event_shape))

    def _get_checked_instance(self, cls, _instance=None):
        """What `expand` of a script's own class fills."""
        if _instance is None and type(self).__init__ != cls.__init__:
            raise NotImplementedError(
                f"Subclass {type(self).__name__} of {cls.__name__} that defines a custom __init__ method must also define a custom "
                ".expand() method.")
        return self.__new__(type(self)) if _instance is None else _instance

    def expand(self, batch_shape, _instance=None):
        """The same distributions, repeated: parameters of the batch's shape, and distributions that this one is made of."""
        new, old = copy.copy(self) if _instance is None else _instance, tuple(self._batch_shape)
        new.__dict__.update(self.__dict__)
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

    def sample_n(self, n):
        return self.sample((n,))

    def rsample(self, sample_shape=()):
        raise NotImplementedError

    def log_prob(self, value):
        raise NotImplementedError

    def entropy(self):
        raise NotImplementedError

    def cdf(self, value):
        raise NotImplementedError

    def icdf(self, value):
        raise NotImplementedError

    def enumerate_support(self, expand=True):
        raise NotImplementedError

    @property
    def support(self):
        raise NotImplementedError

    @property
    def mean(self):
        raise NotImplementedError

    @property
    def mode(self):
        raise NotImplementedError(f"{type(self)} does not implement mode")

    @property
    def variance(self):
        raise NotImplementedError

    @property
    def stddev(self):
        return self.variance.sqrt()

    def perplexity(self):
        return self.entropy().exp()

    def _validate_sample(self, value):
        if not self._validate_args:
            return
        if not isinstance(value, Tensor):
            raise ValueError("The value argument to log_prob must be a Tensor")
        shape, event = tuple(self._batch_shape) + tuple(self._event_shape), len(self._event_shape)
        if event and tuple(value.shape[max(value.dim() - event, 0):]) != tuple(self._event_shape):
            raise ValueError(f"The right-most size of value must match event_shape: {value.size()} vs {self._event_shape}.")
        for i, j in zip(reversed(value.shape), reversed(shape)):
            if i != j and i != 1 and j != 1:
                raise ValueError(f"Value is not broadcastable with batch_shape+event_shape: {value.size()} vs {Size(shape)}.")
        if not self.support.check(value.detach()).all().item():
            raise ValueError(
                f"Expected value argument ({type(value).__name__} of shape {tuple(value.shape)}) to be within the support "
                f"({self.support!r}) of the distribution {self!r}, but found invalid values:\n{value}")

    def __repr__(self):
        given = [(name, self.__dict__[name]) for name in self.arg_constraints if name in self.__dict__]
        parts = [f"{name}: {value if value.numel() == 1 else value.size()}" for name, value in given]
        return f"{type(self).__name__}({', '.join(parts)})"


class ExponentialFamily(Distribution):
    """Distributions that `entropy` and divergences have a closed form for."""
