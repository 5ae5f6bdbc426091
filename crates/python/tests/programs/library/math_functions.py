import math
print(math.pi, math.e, math.tau, math.inf, math.nan, math.sqrt(2), math.sin(1), math.cos(1), math.tan(1), math.asin(1), math.acos(0), math.atan(1), math.atan2(1, -1), math.exp(1), math.log(10), math.log(8, 2), math.log2(8), math.log10(1000), math.log1p(1e-10), math.expm1(1e-10), math.pow(2, 0.5), math.hypot(3, 4), math.sinh(1), math.cosh(1), math.tanh(1), math.asinh(1), math.acosh(2), math.atanh(0.5))
print(math.floor(-1.5), math.ceil(1.2), math.trunc(-1.7), math.fabs(-2), math.fmod(-7, 3), math.remainder(7, 3), math.modf(2.5), math.frexp(10), math.ldexp(0.5, 3), math.copysign(1, -0.0), math.gcd(12, 18), math.lcm(4, 6), math.factorial(20), math.comb(5, 2), math.perm(5, 2), math.isqrt(17), math.prod([1, 2, 3]), math.fsum([0.1] * 10), math.dist([0, 0], [3, 4]), math.degrees(math.pi), math.radians(180))
print(math.isclose(0.1 + 0.2, 0.3), math.isclose(1, 1.1, rel_tol=0.2), math.isnan(math.nan), math.isinf(-math.inf), math.isfinite(1), math.erf(0.5), math.erfc(0.5), math.gamma(5.5), math.lgamma(10), math.cbrt(27), math.exp2(3), math.nextafter(1, 2), math.ulp(1.0), math.log(10 ** 400), math.floor(1e20), math.sumprod([1, 2], [3, 4]))
for f in (lambda: math.sqrt(-1), lambda: math.log(0), lambda: math.exp(1000), lambda: math.acos(2), lambda: math.factorial(-1), lambda: math.factorial(1.5), lambda: math.gcd(1.5), lambda: math.sqrt('a'), lambda: math.floor(math.inf), lambda: math.floor(math.nan), lambda: math.log(-1), lambda: math.pow(0, -1), lambda: math.comb(2, -1), lambda: math.fmod(1, 0), lambda: math.gamma(0), lambda: math.sin(math.inf), lambda: math.isqrt(-1), lambda: math.log(2, 1)):
    try:
        print(f())
    except (ValueError, OverflowError, TypeError, ZeroDivisionError) as e:
        print(type(e).__name__, e)
