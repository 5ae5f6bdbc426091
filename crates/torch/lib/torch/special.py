"""torch.special: the functions that have rows of the table, and Bessel's."""

import _missing
from torch import _C
from torch._functions import softmax, log_softmax

_ops = _C._ops

expit, erf, erfc, erfinv, exp2, expm1, log1p = [_ops[n] for n in "sigmoid erf erfc erfinv exp2 expm1 log1p".split()]
gammaln, digamma, psi, xlogy, xlog1py, sinc, round, logit, logsumexp = [
    _ops[n] for n in "lgamma digamma digamma xlogy xlog1py sinc round logit logsumexp".split()]


def polygamma(n, input):
    from torch import _composites
    return _composites.polygamma(n, input)


def entr(input):
    return _ops["where"](input < 0, float("-inf"), _ops["where"](input == 0, 0.0, -_ops["xlogy"](input, input)))


def ndtr(input):
    return 0.5 * _ops["erfc"](input * -0.7071067811865476)


def ndtri(input):
    return 1.4142135623730951 * _ops["erfinv"](2.0 * input - 1.0)


def log_ndtr(input):
    # Far to the left erfc() is zero before its logarithm is out of reach: its asymptotic series goes on.
    left = input.clamp(max=-5.0)
    tail = -0.5 * left * left - (-left).log() - 0.9189385332046727 + _ops["log1p"](-1 / left ** 2 + 3 / left ** 4 - 15 / left ** 6)
    return _ops["where"](input < -5.0, tail, ndtr(input.clamp(min=-5.0)).log())


def multigammaln(input, p):
    total = p * (p - 1) / 4 * 1.1447298858494002
    for j in range(p):
        total = total + _ops["lgamma"](input - j / 2)
    return total


# Abramowitz and Stegun, 9.8.1 to 9.8.4: coefficients for arguments up to 3.75, and beyond.
_I0 = ((1.0, 3.5156229, 3.0899424, 1.2067492, 0.2659732, 0.360768e-1, 0.45813e-2),
       (0.39894228, 0.1328592e-1, 0.225319e-2, -0.157565e-2, 0.916281e-2, -0.2057706e-1, 0.2635537e-1, -0.1647633e-1, 0.392377e-2))
_I1 = ((0.5, 0.87890594, 0.51498869, 0.15084934, 0.2658733e-1, 0.301532e-2, 0.32411e-3),
       (0.39894228, -0.3988024e-1, -0.362018e-2, 0.163801e-2, -0.1031555e-1, 0.2282967e-1, -0.2895312e-1, 0.1787654e-1, -0.420059e-2))


def _polynomial(y, coefficients):
    total = coefficients[-1]
    for c in coefficients[-2::-1]:
        total = c + y * total
    return total


def _bessel(input, coefficients, odd, scaled):
    input = input if input.dtype.is_floating_point else input.to(_C.get_default_dtype())
    x = input.abs()
    near, far = input.clamp(-3.75, 3.75), x.clamp(min=3.75)
    small = _polynomial((near / 3.75) ** 2, coefficients[0]) * (near if odd else 1.0)
    large = _polynomial(3.75 / far, coefficients[1]) / far.sqrt() * (input.sign() if odd else 1.0)
    small, large = (small * (-near.abs()).exp(), large) if scaled else (small, large * far.exp())
    return _ops["where"](x < 3.75, small, large)


def i0(input):
    return _bessel(input, _I0, False, False)


def i0e(input):
    return _bessel(input, _I0, False, True)


def i1(input):
    return _bessel(input, _I1, True, False)


def i1e(input):
    return _bessel(input, _I1, True, True)


modified_bessel_i0, modified_bessel_i1 = i0, i1


def spherical_bessel_j0(input):
    return sinc(input / 3.141592653589793)


def _late(name):
    """A function of `torch._special`, which few scripts load."""
    def call(*args, **kwargs):
        from torch import _special
        return getattr(_special, name)(*args, **kwargs)
    call.__name__ = call.__qualname__ = name
    return call


for _name in """airy_ai gammainc gammaincc zeta erfcx bessel_j0 bessel_j1 bessel_y0 bessel_y1 modified_bessel_k0 modified_bessel_k1 scaled_modified_bessel_k0
scaled_modified_bessel_k1 chebyshev_polynomial_t chebyshev_polynomial_u
chebyshev_polynomial_v chebyshev_polynomial_w shifted_chebyshev_polynomial_t shifted_chebyshev_polynomial_u shifted_chebyshev_polynomial_v
shifted_chebyshev_polynomial_w hermite_polynomial_h hermite_polynomial_he laguerre_polynomial_l
legendre_polynomial_p""".split():
    globals()[_name] = _late(_name)

__getattr__ = _missing.names("torch.special", globals())
