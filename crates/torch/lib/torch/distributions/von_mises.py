"""The normal distribution's like on a circle."""

import math
from torch import _C, special
from torch.autograd import no_grad
from torch.distributions import constraints
from torch.distributions.distribution import Distribution, _tensors

_ops = _C._ops


class VonMises(Distribution):
    arg_constraints = {"loc": constraints.real, "concentration": constraints.positive}
    support = constraints.real
    has_rsample = False

    def __init__(self, loc, concentration, validate_args=None):
        (self.loc, self.concentration), shape = _tensors(loc, concentration)
        super().__init__(shape, validate_args=validate_args)

    mean = property(lambda self: self.loc)
    mode = property(lambda self: self.loc)

    @property
    def variance(self):
        return 1 - special.i1e(self.concentration) / special.i0e(self.concentration)

    def log_prob(self, value):
        self._validate_sample(value)
        k = self.concentration
        return k * (value - self.loc).cos() - math.log(2 * math.pi) - (special.i0e(k).log() + k)

    @no_grad()
    def sample(self, sample_shape=()):
        """Best and Fisher, 1979: proposals from a wrapped Cauchy distribution until each is accepted once, the last one counting."""
        shape, k = self._extended_shape(sample_shape), self.concentration
        tau = 1 + (1 + 4 * k.square()).sqrt()
        rho = (tau - (2 * tau).sqrt()) / (2 * k)
        r = _ops["where"](k < 1e-5, 1 / k + k, (1 + rho.square()) / (2 * rho))
        x, done = _C.full(shape, 0.0, self.loc.dtype), _C.full(shape, False)
        while not done.all().item():
            # PyTorch draws in float64 whatever the parameters are.
            u1, u2, u3 = _C.uniform((3,) + tuple(shape), 0.0, 1.0, _C.float64, None).to(self.loc.dtype).unbind()
            z = (math.pi * u1).cos()
            f = (1 + r * z) / (r + z)
            c = k * (r - f)
            accepted = ((c * (2 - c) - u2) > 0) | ((c / u2).log() + 1 - c >= 0)
            x = _ops["where"](accepted, (u3 - 0.5).sign() * f.acos(), x)
            done = done | accepted
        return (x + math.pi + self.loc) % (2 * math.pi) - math.pi
