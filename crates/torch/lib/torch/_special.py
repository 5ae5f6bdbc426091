"""Special functions that are rarely called: computed element by element on the host, in f64."""

import functools
import math
import struct
import torch
from torch import _C
from torch._composites import of_a_tensor
from torch.autograd import Function


def _each(function, tensors):
    like = next((t for t in tensors if t.is_floating_point()), torch.zeros(()))
    tensors = torch.broadcast_tensors(*[torch.as_tensor(t) for t in tensors])
    kind = like.dtype
    lists = [t.detach().reshape(-1).tolist() for t in tensors]
    return torch.tensor([function(*values) for values in zip(*lists)], dtype=kind).reshape(tensors[0].shape)


def _made(name, function, slope=None):
    """A function of tensors; its last argument's derivative is `slope`."""
    class Made(Function):
        @staticmethod
        def forward(ctx, *tensors):
            ctx.save_for_backward(*tensors)
            return _each(function, tensors)

        @staticmethod
        def backward(ctx, g):
            if ctx.needs_input_grad[:-1] != (False,) * len(ctx.needs_input_grad[:-1]):
                raise NotImplementedError(f"the derivative for '{name}' is not implemented")
            tensors = ctx.saved_tensors
            return (*[None] * (len(tensors) - 1), (g * slope(*tensors)).sum_to_size(tensors[-1].shape))

    def apply(*args, **named):
        if len(args) == 2:
            of_a_tensor(name, *args)
        args = [torch.as_tensor(a) for a in (*args, *named.values())]
        return Made.apply(*args) if slope and torch.is_grad_enabled() and args[-1].requires_grad else _each(function, args)
    apply.__name__ = apply.__qualname__ = name
    return apply


def _lower(a, x, upper=False):
    """The regularized incomplete gamma function: a series up to the mean, a continued fraction (Lentz) beyond it."""
    if not (a >= 0 and x >= 0):
        return math.nan
    if a == math.inf or x == a == 0:
        return math.nan if a == x else float(upper)
    if x == 0 or a == 0 or x == math.inf:
        return float((x == 0 and a > 0) == upper)
    scale = math.exp(a * math.log(x) - x - math.lgamma(a))
    if x < a + 1:
        term = total = 1 / a
        n = a
        while abs(term) > 1e-16 * total:
            n += 1
            term *= x / n
            total += term
        return 1 - total * scale if upper else total * scale
    b = x + 1 - a
    c, d = 1e300, 1 / b
    total = d
    for i in range(1, 10000):
        b += 2
        d = 1 / (b - i * (i - a) * d)
        c = b - i * (i - a) / c
        total *= c * d
        if abs(c * d - 1) < 1e-15:
            break
    return total * scale if upper else 1 - total * scale


def _density(a, x):
    return ((a - 1) * x.log() - x - a.lgamma()).exp()


def _zeta(x, q):
    """Hurwitz's zeta function by Euler and Maclaurin."""
    if x == 1:
        return math.inf
    if x < 1 or (q <= 0 and x != math.floor(x)):
        return math.nan
    if q <= 0 and q == math.floor(q):
        return math.inf
    total = sum((q + k) ** -x for k in range(20)) + (q + 20) ** (1 - x) / (x - 1) + 0.5 * (q + 20) ** -x
    factor = x * (q + 20) ** (-x - 1)
    for k, b in enumerate((1 / 12, -1 / 720, 1 / 30240, -1 / 1209600, 1 / 47900160)):
        total += b * factor
        factor *= (x + 2 * k + 1) * (x + 2 * k + 2) / (q + 20) ** 2
    return total


def _erfcx(x):
    if x < 25:
        return math.exp(x * x) * math.erfc(x) if x > -26 else math.inf
    return (1 - 0.5 / x ** 2 + 0.75 / x ** 4) / (x * math.sqrt(math.pi)) if x == x else x


def _mean(f, x):
    """Of a periodic function over half its period: the rule of trapezes converges faster than any power."""
    n = 40 + int(min(abs(x), 1e4))
    return (sum(f(math.pi * k / n) for k in range(1, n)) + (f(0.0) + f(math.pi)) / 2) / n


def _j(order, x):
    return 0.0 if order and x == 0 else _mean(lambda t: math.cos(order * t - x * math.sin(t)), x)


def _y(order, x):
    """Neumann's series (DLMF 10.8), and Hankel's expansion (10.17) far out."""
    if not x > 0:
        return -math.inf if x == 0 else math.nan
    if x > 20:
        p = q = 0.0
        term, k = 1.0, 0
        while k < 20:
            p, q, k = (p + term * (-1) ** (k // 2), q, k + 1) if k % 2 == 0 else (p, q + term * (-1) ** (k // 2), k + 1)
            term *= (4 * order - (2 * k - 1) ** 2) / (8 * k * x)
        at = x - (2 * order + 1) * math.pi / 4
        return math.sqrt(2 / (math.pi * x)) * (p * math.sin(at) + q * math.cos(at))
    term, total, k = (x / 2) ** order, 0.0, 0
    # Both sums of reciprocals less Euler's constant: psi(k + 1) + psi(k + 1 + order).
    psi = order - 2 * 0.5772156649015329
    while k < 60:
        total += term * psi
        k += 1
        psi += 1 / k + 1 / (k + order)
        term *= -x * x / 4 / (k * (k + order))
    return (2 * math.log(x / 2) * _j(order, x) - total) / math.pi - (2 / (math.pi * x) if order else 0.0)


def _airy(x):
    """Its two power series (DLMF 9.4), and expansions (9.7) far from zero."""
    if abs(x) < 6:
        f = term = 0.3550280538878172
        g = other = 0.2588194037928068 * x
        for k in range(1, 60):
            term *= x ** 3 / ((3 * k - 1) * 3 * k)
            other *= x ** 3 / (3 * k * (3 * k + 1))
            f, g = f + term, g + other
        return f - g
    z = 2 / 3 * abs(x) ** 1.5
    if x != x or z == math.inf:
        return x if x != x else 0.0 if x > 0 else math.nan
    terms = [1.0]
    for k in range(1, 16):
        terms.append(terms[-1] * (6 * k - 5) * (6 * k - 3) * (6 * k - 1) / (216 * k * (2 * k - 1) * z))
    size = math.sqrt(math.pi) * abs(x) ** 0.25
    if x > 0:
        return math.exp(-z) / (2 * size) * sum([t * (-1) ** k for k, t in enumerate(terms)])
    p, q = [sum([t * (-1) ** k for k, t in enumerate(terms[i::2])]) for i in (0, 1)]
    return (math.sin(z + math.pi / 4) * p - math.cos(z + math.pi / 4) * q) / size


def _k(order, x, scaled):
    if x <= 0:
        return math.inf if x == 0 else math.nan
    end = math.acosh(1 + 745 / x)
    h = end / 400
    tail = [math.exp(-x * (math.cosh(k * h) - 1)) * math.cosh(order * k * h) for k in range(1, 400)]
    return (0.5 + sum(tail)) * h * (1 if scaled else math.exp(-x))


def _polynomial(second, step, limit=math.inf, shifted=False):
    """A family of polynomials by its recurrence, for degrees of any type: they are cut to integers, and are 0 below 0."""
    def function(x, n):
        x, n = 2 * x - 1 if shifted else x, int(n) if math.isfinite(n) else -1
        before, now = 1.0, second(x)
        if n < 1:
            return float(n == 0)
        if n > limit:
            return math.nan
        for k in range(1, n):
            before, now = now, step(x, k, before, now)
            if now != now:
                break
        return now
    return function


gammainc = igamma = _made("igamma", _lower, _density)
gammaincc = igammac = _made("igammac", functools.partial(_lower, upper=True), lambda a, x: -_density(a, x))
zeta = _made("special_zeta", _zeta, lambda x, q: -x * zeta(x + 1, q))
erfcx = _made("special_erfcx", _erfcx, lambda x: 2 * x * erfcx(x) - 2 / math.sqrt(math.pi))
bessel_j0 = _made("special_bessel_j0", functools.partial(_j, 0), lambda x: -bessel_j1(x))
bessel_j1 = _made("special_bessel_j1", functools.partial(_j, 1), lambda x: bessel_j0(x) - bessel_j1(x) / x)
airy_ai = _made("special_airy_ai", _airy)
bessel_y0 = _made("special_bessel_y0", functools.partial(_y, 0), lambda x: -bessel_y1(x))
bessel_y1 = _made("special_bessel_y1", functools.partial(_y, 1), lambda x: bessel_y0(x) - bessel_y1(x) / x)
for _order in (0, 1):
    globals()[f"scaled_modified_bessel_k{_order}"] = _made(f"special_scaled_modified_bessel_k{_order}", lambda x, o=_order: _k(o, x, True))
modified_bessel_k0 = _made("special_modified_bessel_k0", lambda x: _k(0, x, False), lambda x: -modified_bessel_k1(x))
modified_bessel_k1 = _made("special_modified_bessel_k1", lambda x: _k(1, x, False), lambda x: -modified_bessel_k0(x) - modified_bessel_k1(x) / x)


def _doubled(x, k, b, a):
    return 2 * x * a - b


# Hermite's have no values beyond degrees that overflow (128 in f32).
for _name, _second, _step, *_more in (
        ("chebyshev_polynomial_t", lambda x: x, _doubled),
        ("chebyshev_polynomial_u", lambda x: 2 * x, _doubled),
        ("chebyshev_polynomial_v", lambda x: 2 * x - 1, _doubled),
        ("chebyshev_polynomial_w", lambda x: 2 * x + 1, _doubled),
        ("hermite_polynomial_h", lambda x: 2 * x, lambda x, k, b, a: 2 * x * a - 2 * k * b, 128),
        ("hermite_polynomial_he", lambda x: x, lambda x, k, b, a: x * a - k * b, 128),
        ("laguerre_polynomial_l", lambda x: 1 - x, lambda x, k, b, a: ((2 * k + 1 - x) * a - k * b) / (k + 1)),
        ("legendre_polynomial_p", lambda x: x, lambda x, k, b, a: ((2 * k + 1) * x * a - k * b) / (k + 1))):
    globals()[_name] = _made(f"special_{_name}", _polynomial(_second, _step, *_more))
    if _step is _doubled:
        globals()["shifted_" + _name] = _made(f"special_shifted_{_name}", _polynomial(_second, _step, shifted=True))


def _after(x, y):
    if x == y or x != x or y != y:
        return x + y - x
    if x == 0:
        return math.copysign(1.401298464324817e-45, y)
    bits, = struct.unpack("<i", struct.pack("<f", x))
    return struct.unpack("<f", struct.pack("<i", bits + (1 if (y > x) == (x > 0) else -1)))[0]


def nextafter(input, other):
    """As in PyTorch its gradient is the first argument's alone."""
    made = _each(_after, (input.detach(), other.detach()))
    return made + (input - input.detach()) + 0 * (other - other.detach()) if input.requires_grad or other.requires_grad else made
