"""Functions of complex numbers."""
import math

pi, e, tau, inf, nan = math.pi, math.e, math.tau, math.inf, math.nan
infj, nanj = complex(0, inf), complex(0, nan)


def phase(z):
    z = complex(z)
    return math.atan2(z.imag, z.real)


def polar(z):
    return abs(complex(z)), phase(z)


def rect(r, phi):
    return complex(r * math.cos(phi), r * math.sin(phi))


def exp(z):
    z = complex(z)
    return rect(math.exp(z.real), z.imag)


def log(z, base=None):
    z = complex(z)
    if z == 0:
        raise ValueError("math domain error")
    made = complex(math.log(abs(z)), phase(z))
    return made if base is None else made / log(base)


def log10(z):
    made = log(z)
    return complex(made.real / math.log(10), made.imag / math.log(10))


def sqrt(z):
    z = complex(z)
    if z == 0:
        return complex(0, z.imag)
    t = math.sqrt((abs(z.real) + abs(z)) / 2)
    if z.real >= 0:
        return complex(t, z.imag / (2 * t))
    return complex(abs(z.imag) / (2 * t), math.copysign(t, z.imag))


def sin(z):
    z = complex(z)
    return complex(math.sin(z.real) * math.cosh(z.imag), math.cos(z.real) * math.sinh(z.imag))


def cos(z):
    z = complex(z)
    return complex(math.cos(z.real) * math.cosh(z.imag), -math.sin(z.real) * math.sinh(z.imag))


def tan(z):
    z = complex(z)
    turned = tanh(complex(-z.imag, z.real))
    return complex(turned.imag, -turned.real)


def sinh(z):
    z = complex(z)
    return complex(math.sinh(z.real) * math.cos(z.imag), math.cosh(z.real) * math.sin(z.imag))


def cosh(z):
    z = complex(z)
    return complex(math.cosh(z.real) * math.cos(z.imag), math.sinh(z.real) * math.sin(z.imag))


def tanh(z):
    z = complex(z)
    # Where cosh would not fit, the result is one but for what a float does not hold.
    if abs(z.real) > 350:
        return complex(math.copysign(1.0, z.real), 4 * math.sin(z.imag) * math.cos(z.imag) * math.exp(-2 * abs(z.real)))
    x, y, narrow = math.tanh(z.real), math.tan(z.imag), 1 / math.cosh(z.real)
    below = 1 + (x * y) ** 2
    return complex(x * (1 + y * y) / below, y / below * narrow * narrow)


def isnan(z):
    z = complex(z)
    return math.isnan(z.real) or math.isnan(z.imag)


def isinf(z):
    z = complex(z)
    return math.isinf(z.real) or math.isinf(z.imag)


def isfinite(z):
    return not isnan(z) and not isinf(z)


def isclose(a, b, *, rel_tol=1e-9, abs_tol=0.0):
    return a == b or abs(a - b) <= max(rel_tol * max(abs(a), abs(b)), abs_tol)


# Inverse functions by Kahan's formulas, which keep the side of the cut that a signed zero is on.

def acos(z):
    z = complex(z)
    below, above = sqrt(complex(1 - z.real, -z.imag)), sqrt(complex(1 + z.real, z.imag))
    return complex(2 * math.atan2(below.real, above.real), math.asinh(above.real * below.imag - above.imag * below.real))


def acosh(z):
    z = complex(z)
    below, above = sqrt(complex(z.real - 1, z.imag)), sqrt(complex(z.real + 1, z.imag))
    return complex(math.asinh(below.real * above.real + below.imag * above.imag), 2 * math.atan2(below.imag, above.real))


def asinh(z):
    z = complex(z)
    right, left = sqrt(complex(1 + z.imag, -z.real)), sqrt(complex(1 - z.imag, z.real))
    return complex(math.asinh(right.real * left.imag - left.real * right.imag),
                   math.atan2(z.imag, right.real * left.real - right.imag * left.imag))


def atanh(z):
    z = complex(z)
    x, y = z.real, z.imag
    if y == 0 and abs(x) == 1:
        raise ValueError("math domain error")
    real = math.copysign(math.log1p(4 * abs(x) / ((1 - abs(x)) ** 2 + y * y)) / 4, x)
    return complex(real, math.atan2(2 * y, (1 - x) * (1 + x) - y * y) / 2)


def asin(z):
    z = complex(z)
    turned = asinh(complex(-z.imag, z.real))
    return complex(turned.imag, -turned.real)


def atan(z):
    z = complex(z)
    turned = atanh(complex(-z.imag, z.real))
    return complex(turned.imag, -turned.real)
