"""Numbers as quotients."""

import math
import operator
import re
from numbers import Rational

_FORMAT = re.compile(r"\s*([-+]?)(?=\d|\.\d)(\d*)(?:/(\d+)|(?:\.(\d*))?(?:[eE]([-+]?\d+))?)\s*")


class Fraction(Rational):
    __slots__ = ("_numerator", "_denominator")

    def __new__(cls, numerator=0, denominator=None):
        self = object.__new__(cls)
        if denominator is None:
            if isinstance(numerator, int):
                n, d = int(numerator), 1
            elif isinstance(numerator, Fraction):
                n, d = numerator._numerator, numerator._denominator
            elif isinstance(numerator, float) or hasattr(numerator, "as_integer_ratio"):
                n, d = numerator.as_integer_ratio()
            elif isinstance(numerator, str):
                n, d = _parse(numerator)
            else:
                raise TypeError("argument should be a string or a Rational instance")
        elif isinstance(numerator, (int, Fraction)) and isinstance(denominator, (int, Fraction)):
            a, b = Fraction(numerator), Fraction(denominator)
            n, d = a._numerator * b._denominator, a._denominator * b._numerator
        else:
            raise TypeError("both arguments should be Rational instances")
        if d == 0:
            raise ZeroDivisionError(f"Fraction({numerator}, 0)")
        g = math.gcd(n, d)
        if d < 0:
            g = -g
        self._numerator, self._denominator = n // g, d // g
        return self

    @property
    def numerator(self):
        return self._numerator

    @property
    def denominator(self):
        return self._denominator

    @classmethod
    def from_float(cls, f):
        return cls(*f.as_integer_ratio())

    from_decimal = from_float

    def as_integer_ratio(self):
        return self._numerator, self._denominator

    def is_integer(self):
        return self._denominator == 1

    def limit_denominator(self, max_denominator=1000000):
        if max_denominator < 1:
            raise ValueError("max_denominator should be at least 1")
        if self._denominator <= max_denominator:
            return Fraction(self)
        p0, q0, p1, q1 = 0, 1, 1, 0
        n, d = self._numerator, self._denominator
        while True:
            a = n // d
            q2 = q0 + a * q1
            if q2 > max_denominator:
                break
            p0, q0, p1, q1 = p1, q1, p0 + a * p1, q2
            n, d = d, n - a * d
        k = (max_denominator - q0) // q1
        if 2 * d * (q0 + k * q1) <= self._denominator:
            return Fraction(p1, q1)
        return Fraction(p0 + k * p1, q0 + k * q1)

    def __repr__(self):
        return f"{type(self).__name__}({self._numerator}, {self._denominator})"

    def __str__(self):
        return str(self._numerator) if self._denominator == 1 else f"{self._numerator}/{self._denominator}"

    def __format__(self, spec):
        return str(self) if not spec else format(float(self), spec)

    def __hash__(self):
        if self._denominator == 1:
            return hash(self._numerator)
        # What a float holds exactly hashes as the float.
        near = self._numerator / self._denominator
        return hash(near) if near.as_integer_ratio() == (self._numerator, self._denominator) else hash((self._numerator, self._denominator))

    def __reduce__(self):
        return type(self), (self._numerator, self._denominator)

    def __copy__(self):
        return self

    def __deepcopy__(self, memo):
        return self

    def __float__(self):
        return self._numerator / self._denominator

    def __complex__(self):
        return complex(float(self))

    def __bool__(self):
        return self._numerator != 0

    def __trunc__(self):
        return -(-self._numerator // self._denominator) if self._numerator < 0 else self._numerator // self._denominator

    __int__ = __trunc__

    def __floor__(self):
        return self._numerator // self._denominator

    def __ceil__(self):
        return -(-self._numerator // self._denominator)

    def __round__(self, ndigits=None):
        if ndigits is None:
            floor, rest = divmod(self._numerator, self._denominator)
            if rest * 2 != self._denominator:
                return floor + (rest * 2 > self._denominator)
            return floor + floor % 2
        shift = 10 ** abs(ndigits)
        return Fraction(round(self * shift), shift) if ndigits > 0 else Fraction(round(self / shift) * shift)

    def __neg__(self):
        return Fraction(-self._numerator, self._denominator)

    def __pos__(self):
        return Fraction(self)

    def __abs__(self):
        return Fraction(abs(self._numerator), self._denominator)

    def __pow__(self, other):
        if isinstance(other, Fraction) and other._denominator == 1:
            other = other._numerator
        if isinstance(other, int):
            if other >= 0:
                return Fraction(self._numerator ** other, self._denominator ** other)
            return Fraction(self._denominator ** -other, self._numerator ** -other)
        return float(self) ** float(other)

    def __rpow__(self, other):
        return other ** self._numerator if self._denominator == 1 else other ** float(self)

    def _compared(name):
        compare = getattr(operator, name)

        def method(self, other):
            if isinstance(other, (int, Fraction)):
                other = Fraction(other)
                return compare(self._numerator * other._denominator, other._numerator * self._denominator)
            if isinstance(other, float):
                if math.isnan(other) or math.isinf(other):
                    return compare(0.0, other)
                return compare(self, Fraction(other))
            return NotImplemented
        return method

    __eq__, __lt__, __le__, __gt__, __ge__ = map(_compared, ("eq", "lt", "le", "gt", "ge"))

    def _operator(exact, inexact):
        def forward(a, b):
            if isinstance(b, (int, Fraction)):
                return exact(a, Fraction(b))
            if isinstance(b, float):
                return inexact(float(a), b)
            if isinstance(b, complex):
                return inexact(complex(a), b)
            return NotImplemented

        def reverse(b, a):
            if isinstance(a, (int, Fraction)):
                return exact(Fraction(a), b)
            if isinstance(a, float):
                return inexact(a, float(b))
            if isinstance(a, complex):
                return inexact(a, complex(b))
            return NotImplemented
        return forward, reverse

    __add__, __radd__ = _operator(lambda a, b: Fraction(
        a._numerator * b._denominator + b._numerator * a._denominator, a._denominator * b._denominator), operator.add)
    __sub__, __rsub__ = _operator(lambda a, b: Fraction(
        a._numerator * b._denominator - b._numerator * a._denominator, a._denominator * b._denominator), operator.sub)
    __mul__, __rmul__ = _operator(lambda a, b: Fraction(a._numerator * b._numerator, a._denominator * b._denominator), operator.mul)
    __truediv__, __rtruediv__ = _operator(lambda a, b: Fraction(
        a._numerator * b._denominator, a._denominator * b._numerator), operator.truediv)
    __floordiv__, __rfloordiv__ = _operator(lambda a, b: (a._numerator * b._denominator) // (a._denominator * b._numerator), operator.floordiv)
    __mod__, __rmod__ = _operator(lambda a, b: a - b * (a // b), operator.mod)
    __divmod__, __rdivmod__ = _operator(lambda a, b: (a // b, a % b), divmod)


def _parse(text):
    found = _FORMAT.fullmatch(text)
    if found is None:
        raise ValueError(f"Invalid literal for Fraction: {text!r}")
    sign, whole, denominator, decimal, exponent = found.groups()
    n, d = int(whole or "0"), int(denominator or "1")
    if decimal:
        n, d = n * 10 ** len(decimal) + int(decimal), 10 ** len(decimal)
    if exponent:
        n, d = (n * 10 ** int(exponent), d) if int(exponent) >= 0 else (n, d * 10 ** -int(exponent))
    return (-n if sign == "-" else n), d
