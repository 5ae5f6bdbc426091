"""Distributions whose samples come from the gamma distribution, and Poisson's: drawn number by number as PyTorch draws them on a CPU."""

from torch import _C
from torch.distributions import constraints
from torch.distributions.distribution import Distribution, _tensors
import math

_ops = _C._ops


def _standard_gamma(alpha):
    """Marsaglia and Tsang, 2000: `sample_gamma` of ATen/native/Distributions.h."""
    scale = 1.0
    if alpha < 1.0:
        if alpha == 0.0:
            return 0.0
        scale = (1.0 - _C.uniform64()) ** (1.0 / alpha)
        alpha += 1.0
    d = alpha - 1.0 / 3.0
    c = 1.0 / math.sqrt(9.0 * d)
    while True:
        x = _C.normal64()
        y = 1.0 + c * x
        if y <= 0:
            continue
        v = y * y * y
        u = 1.0 - _C.uniform64()
        if u < 1.0 - 0.0331 * x ** 4 or math.log(u) < 0.5 * x * x + d * (1.0 - v + math.log(v)):
            return scale * d * v


def _poisson(rate):
    """`sample_poisson` of ATen/native/cpu/Distributions: products of uniforms, and Hormann's transformed rejection (1993) from ten on."""
    if rate < 10:
        limit, x, product = math.exp(-rate), 0, 1.0
        while rate > 0:
            product *= _C.uniform64()
            if product <= limit:
                break
            x += 1
        return x
    b = 0.931 + 2.53 * math.sqrt(rate)
    a = -0.059 + 0.02483 * b
    inverse, vr = 1.1239 + 1.1328 / (b - 3.4), 0.9277 - 3.6224 / (b - 2)
    while True:
        u, v = _C.uniform64() - 0.5, _C.uniform64()
        us = 0.5 - abs(u)
        k = math.floor((2 * a / us + b) * u + rate + 0.43)
        if us >= 0.07 and v <= vr:
            return k
        if k < 0 or (us < 0.013 and v > us):
            continue
        if math.log(v) + math.log(inverse) - math.log(a / (us * us) + b) <= -rate + k * math.log(rate) - math.lgamma(k + 1):
            return k


def _drawn(draw, parameter, shape):
    values = _C.values(parameter.detach().expand(shape))
    return _C.tensor([draw(v) for v in values], parameter.dtype).reshape(list(shape))


def _moved(made, parameter, slopes):
    """Zeros whose gradient by the parameter is that of the sample `made`, which was drawn with it."""
    parameter = parameter.expand(made.shape)
    return _C.tensor(slopes, made.dtype).reshape(list(made.shape)) * (parameter - parameter.detach())


def _rdrawn(alpha, shape):
    made = _drawn(_standard_gamma, alpha, shape)
    if not (alpha.requires_grad and _C.is_grad_enabled()):
        return made
    from torch.distributions import pathwise
    pairs = zip(_C.values(alpha.detach().expand(shape)), _C.values(made))
    return made + _moved(made, alpha, [pathwise.standard_gamma(*p) for p in pairs])


class Gamma(Distribution):
    has_rsample = True
    arg_constraints = {"concentration": constraints.positive, "rate": constraints.positive}
    support = constraints.nonnegative

    def __init__(self, concentration, rate, validate_args=None):
        (self.concentration, self.rate), shape = _tensors(concentration, rate)
        super().__init__(shape, validate_args=validate_args)

    @property
    def mean(self):
        return self.concentration / self.rate

    @property
    def mode(self):
        return ((self.concentration - 1) / self.rate).clamp(min=0)

    @property
    def variance(self):
        return self.concentration / self.rate.pow(2)

    def rsample(self, sample_shape=()):
        made = _rdrawn(self.concentration, self._extended_shape(sample_shape))
        return (made / self.rate).clamp(min=1.1754943508222875e-38)

    def log_prob(self, value):
        value = value if isinstance(value, _C.Tensor) else _C.tensor(float(value), self.rate.dtype)
        self._validate_sample(value)
        a, b = self.concentration, self.rate
        return _ops["xlogy"](a, b) + _ops["xlogy"](a - 1, value) - b * value - a.lgamma()

    def entropy(self):
        a = self.concentration
        return a - self.rate.log() + a.lgamma() + (1.0 - a) * a.digamma()


class Chi2(Gamma):
    # The base keeps the parameters.
    arg_constraints = {"df": constraints.positive}
    df = property(lambda self: self.concentration * 2)

    def __init__(self, df, validate_args=None):
        df = df if isinstance(df, _C.Tensor) else _C.tensor(float(df), _C.get_default_dtype())
        super().__init__(0.5 * df, df * 0 + 0.5, validate_args)


class Dirichlet(Distribution):
    has_rsample = True
    arg_constraints = {"concentration": constraints.independent(constraints.positive, 1)}
    support = constraints.simplex

    def __init__(self, concentration, validate_args=None):
        if concentration.dim() < 1:
            raise ValueError("`concentration` parameter must be at least one-dimensional.")
        self.concentration = concentration
        super().__init__(concentration.shape[:-1], concentration.shape[-1:], validate_args)

    @property
    def mean(self):
        return self.concentration / self.concentration.sum(-1, True)

    @property
    def mode(self):
        # Without a peak inside the simplex the mode is a corner, where there is one.
        a = self.concentration
        inner = (a - 1).clamp(min=0.0)
        mode = inner / inner.sum(-1, True)
        corner = _ops["one_hot"](mode.argmax(-1), a.shape[-1]).to(a.dtype)
        return _ops["where"]((a < 1).all(-1, True), corner, mode)

    @property
    def variance(self):
        total = self.concentration.sum(-1, True)
        return self.concentration * (total - self.concentration) / (total.pow(2) * (total + 1))

    def rsample(self, sample_shape=()):
        a = self.concentration
        made = _drawn(_standard_gamma, a, self._extended_shape(sample_shape))
        made = made / made.sum(-1, keepdim=True)
        if not (a.requires_grad and _C.is_grad_enabled()):
            return made
        from torch.distributions import pathwise
        known = a.detach().expand(made.shape)
        triples = zip(_C.values(made), _C.values(known), _C.values(known.sum(-1, True).expand(made.shape)))
        moved = _moved(made, a, [pathwise.dirichlet(*t) for t in triples])
        return made + moved - made * moved.sum(-1, True)

    def log_prob(self, value):
        self._validate_sample(value)
        a = self.concentration
        return _ops["xlogy"](a - 1.0, value).sum(-1) + a.sum(-1).lgamma() - a.lgamma().sum(-1)

    def entropy(self):
        a = self.concentration
        n, total = a.shape[-1], a.sum(-1)
        return a.lgamma().sum(-1) - total.lgamma() - (n - total) * total.digamma() - ((a - 1.0) * a.digamma()).sum(-1)


class Beta(Distribution):
    has_rsample = True
    arg_constraints = {"concentration1": constraints.positive, "concentration0": constraints.positive}
    support = constraints.unit_interval
    concentration1 = property(lambda self: self._dirichlet.concentration[..., 0])
    concentration0 = property(lambda self: self._dirichlet.concentration[..., 1])

    def __init__(self, concentration1, concentration0, validate_args=None):
        pair, shape = _tensors(concentration1, concentration0)
        self._dirichlet = Dirichlet(_ops["stack"](pair, -1), validate_args)
        super().__init__(shape, validate_args=validate_args)

    @property
    def mean(self):
        return self.concentration1 / (self.concentration1 + self.concentration0)

    @property
    def mode(self):
        return self._dirichlet.mode[..., 0]

    @property
    def variance(self):
        total = self.concentration1 + self.concentration0
        return self.concentration1 * self.concentration0 / (total.pow(2) * (total + 1))

    def rsample(self, sample_shape=()):
        return self._dirichlet.rsample(sample_shape).select(-1, 0)

    def log_prob(self, value):
        self._validate_sample(value)
        return self._dirichlet.log_prob(_ops["stack"]([value, 1.0 - value], -1))

    def entropy(self):
        return self._dirichlet.entropy()


class StudentT(Distribution):
    has_rsample = True
    arg_constraints = {"df": constraints.positive, "loc": constraints.real, "scale": constraints.positive}
    support = constraints.real

    def __init__(self, df, loc=0.0, scale=1.0, validate_args=None):
        (self.df, self.loc, self.scale), shape = _tensors(df, loc, scale)
        super().__init__(shape, validate_args=validate_args)

    @property
    def mean(self):
        return _ops["where"](self.df > 1, self.loc, float("nan"))

    @property
    def mode(self):
        return self.loc

    @property
    def variance(self):
        finite = self.scale.pow(2) * self.df / _ops["where"](self.df > 2, self.df - 2, 1.0)
        return _ops["where"](self.df > 2, finite, _ops["where"](self.df > 1, finite * 0 + float("inf"), float("nan")))

    def rsample(self, sample_shape=()):
        shape = self._extended_shape(sample_shape)
        x = _C.normal(shape, 0.0, 1.0, self.df.dtype, None)
        z = _rdrawn(self.df * 0.5, shape) * 2.0
        return self.loc + self.scale * x * (z / self.df).rsqrt()

    def log_prob(self, value):
        self._validate_sample(value)
        y = (value - self.loc) / self.scale
        known = self.scale.log() + 0.5 * self.df.log() + 0.5 * math.log(math.pi) + (0.5 * self.df).lgamma() - (0.5 * (self.df + 1.0)).lgamma()
        return -0.5 * (self.df + 1.0) * _ops["log1p"](y ** 2.0 / self.df) - known

    def entropy(self):
        beta = (0.5 * self.df).lgamma() + math.lgamma(0.5) - (0.5 * (self.df + 1)).lgamma()
        return (self.scale.log() + 0.5 * (self.df + 1) * ((0.5 * (self.df + 1)).digamma() - (0.5 * self.df).digamma())
                + 0.5 * self.df.log() + beta)


class Poisson(Distribution):
    arg_constraints = {"rate": constraints.nonnegative}
    support = constraints.nonnegative_integer

    def __init__(self, rate, validate_args=None):
        (self.rate,), shape = _tensors(rate)
        super().__init__(shape, validate_args=validate_args)

    @property
    def mean(self):
        return self.rate

    @property
    def mode(self):
        return self.rate.floor()

    @property
    def variance(self):
        return self.rate

    def sample(self, sample_shape=()):
        return _drawn(_poisson, self.rate.detach(), self._extended_shape(sample_shape))

    def log_prob(self, value):
        self._validate_sample(value)
        return _ops["xlogy"](value, self.rate) - self.rate - (value + 1).lgamma()
