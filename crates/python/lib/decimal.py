"""Decimal numbers of a chosen precision: a sign, whole digits and a power of ten."""

import math
import re
from _decimal_context import *
from _decimal_context import _signal
from collections import namedtuple
from numbers import Number

DecimalTuple = namedtuple("DecimalTuple", "sign digits exponent")


def _nan():
    return _made(False, 0, 0, "NaN")


def _divided(n, by, rounding, negative):
    """Whole digits divided by a power of ten, rounded."""
    whole, rest = divmod(n, by)
    if not rest:
        return whole
    twice = 2 * rest
    up = {
        ROUND_UP: True, ROUND_DOWN: False, ROUND_CEILING: not negative, ROUND_FLOOR: negative, ROUND_HALF_UP: twice >= by,
        ROUND_HALF_DOWN: twice > by, ROUND_HALF_EVEN: twice > by or (twice == by and whole % 2 == 1), ROUND_05UP: whole % 5 == 0,
    }[rounding]
    return whole + up


_NUMBER = re.compile(r"([-+]?)(?:(\d+)(?:\.(\d*))?|\.(\d+))(?:[eE]([-+]?\d+))?")
_SPECIAL = re.compile(r"([-+]?)(inf|infinity|nan|snan)", re.I)


def _made(negative, digits, exponent, kind=""):
    self = object.__new__(Decimal)
    self._negative, self._digits, self._exp, self._kind = negative, digits, exponent, kind
    return self


def _fixed(negative, digits, exponent):
    """Rounded to the context's precision, and within its powers of ten."""
    context = getcontext()
    over = max(len(str(digits)) - context.prec, context.Etiny() - exponent)
    if over > 0 and digits:
        exact = digits % 10 ** over == 0
        tiny = len(str(digits)) + exponent - 1 < context.Emin
        digits, exponent = _divided(digits, 10 ** over, context.rounding, negative), exponent + over
        if len(str(digits)) > context.prec:
            digits, exponent = digits // 10, exponent + 1
        for kind in (Rounded,) if exact else (Rounded, Inexact):
            _signal(kind, None)
        if tiny:
            _signal(Subnormal, None)
            if not exact:
                _signal(Underflow, None)
    elif over > 0:
        exponent = max(exponent, context.Etiny())
    if digits and len(str(digits)) + exponent - 1 > context.Emax:
        context.flags[Inexact] = context.flags[Rounded] = True
        away = context.rounding in (ROUND_HALF_UP, ROUND_HALF_EVEN, ROUND_HALF_DOWN, ROUND_UP) or \
            context.rounding == (ROUND_FLOOR if negative else ROUND_CEILING)
        largest = _made(negative, 10 ** context.prec - 1, context.Etop()) if not away else _made(negative, 0, 0, "Infinity")
        return _signal(Overflow, largest)
    if context.clamp and digits and exponent > context.Etop():
        digits, exponent = digits * 10 ** (exponent - context.Etop()), context.Etop()
    return _made(negative, digits, exponent)


def _operand(value):
    if isinstance(value, Decimal):
        return value
    return Decimal(value) if isinstance(value, int) else None


class Decimal(Number):
    _tp_name = "decimal.Decimal"
    __slots__ = ("_negative", "_digits", "_exp", "_kind")

    def __new__(cls, value="0", context=None):
        if isinstance(value, Decimal):
            return value
        if isinstance(value, int):
            return _made(value < 0, abs(int(value)), 0)
        if isinstance(value, float):
            _signal(FloatOperation, None)
            return cls.from_float(value)
        if isinstance(value, (tuple, list)):
            sign, digits, exponent = value
            return _made(bool(sign), int("".join([str(d) for d in digits]) or "0"), exponent)
        if not isinstance(value, str):
            raise TypeError(f"conversion from {type(value).__name__} to Decimal is not supported")
        text = value.strip().replace("_", "")
        found = _NUMBER.fullmatch(text)
        if found:
            sign, whole, part, only, exponent = found.groups()
            part = only if whole is None else part or ""
            if abs(int(exponent or 0)) > MAX_EMAX:
                return _signal(InvalidOperation, _nan())
            return _made(sign == "-", int((whole or "") + part), int(exponent or 0) - len(part))
        found = _SPECIAL.fullmatch(text)
        if not found:
            return _signal(InvalidOperation, _nan(), ConversionSyntax)
        kind = found.group(2).lower()
        if kind.endswith("nan"):
            return _made(found.group(1) == "-", 0, 0, "NaN")
        return _made(found.group(1) == "-", 0, 0, "Infinity")

    @classmethod
    def from_float(cls, value):
        if isinstance(value, int):
            return cls(value)
        if value != value or value in (math.inf, -math.inf):
            return _made(value < 0, 0, 0, "NaN" if value != value else "Infinity")
        n, d = abs(value).as_integer_ratio()
        places = d.bit_length() - 1
        return _made(math.copysign(1, value) < 0, n * 5 ** places, -places)

    def _signed(self):
        return -self._digits if self._negative else self._digits

    def _special(self, other, infinite):
        """What an operation gives where one operand is not finite."""
        if "NaN" in (self._kind, other._kind):
            return _made(False, 0, 0, "NaN")
        return infinite()

    def __repr__(self):
        return f"Decimal('{self}')"

    def __str__(self):
        sign = "-" if self._negative else ""
        if self._kind:
            return sign + self._kind
        text = str(self._digits)
        point = len(text) + self._exp
        if self._exp <= 0 and point > -6:
            return sign + _placed(text, point)
        shown = text[0] + ("." + text[1:] if len(text) > 1 else "")
        return f"{sign}{shown}{'E' if getcontext().capitals else 'e'}{point - 1:+d}"

    def to_eng_string(self, context=None):
        text = str(self._digits)
        point = len(text) + self._exp
        if self._kind or self._exp <= 0 and point > -6:
            return str(self)
        shown = (point - 1) % 3 + 1
        text = text.ljust(shown, "0")
        rest = "." + text[shown:] if len(text) > shown else ""
        return f"{'-' if self._negative else ''}{text[:shown]}{rest}" + (f"E{point - shown:+d}" if point != shown else "")

    def __hash__(self):
        if self._kind:
            return hash(float(self))
        if self._exp >= 0:
            return hash(self._signed() * 10 ** self._exp)
        # What a float holds exactly hashes as the float.
        near = float(self)
        if self == near:
            return hash(near)
        from fractions import Fraction
        return hash(Fraction(self._signed(), 10 ** -self._exp))

    def __bool__(self):
        return bool(self._digits) or bool(self._kind)

    def __neg__(self):
        return _made(not self._negative, 0, 0, self._kind) if self._kind else _fixed(bool(self._digits) and not self._negative, self._digits, self._exp)

    def __pos__(self):
        return self if self._kind else _fixed(self._negative and bool(self._digits), self._digits, self._exp)

    def __abs__(self):
        return _made(False, 0, 0, self._kind) if self._kind else _fixed(False, self._digits, self._exp)

    def __add__(self, other):
        other = _operand(other)
        if other is None:
            return NotImplemented
        if self._kind or other._kind:
            opposed = self._kind == other._kind == "Infinity" and self._negative != other._negative
            return self._special(other, lambda: _signal(InvalidOperation, _nan()) if opposed else self if self._kind else other)
        low = min(self._exp, other._exp)
        total = self._signed() * 10 ** (self._exp - low) + other._signed() * 10 ** (other._exp - low)
        return _fixed(total < 0, abs(total), low)

    __radd__ = __add__

    def __sub__(self, other):
        other = _operand(other)
        return NotImplemented if other is None else self + other.copy_negate()

    def __rsub__(self, other):
        other = _operand(other)
        return NotImplemented if other is None else other - self

    def __mul__(self, other):
        other = _operand(other)
        if other is None:
            return NotImplemented
        negative = self._negative != other._negative
        if self._kind or other._kind:
            nothing = not self._kind and not self._digits or not other._kind and not other._digits
            return self._special(other, lambda: _signal(InvalidOperation, _nan()) if nothing else _made(negative, 0, 0, "Infinity"))
        return _fixed(negative, self._digits * other._digits, self._exp + other._exp)

    __rmul__ = __mul__

    def __truediv__(self, other):
        other = _operand(other)
        if other is None:
            return NotImplemented
        negative = self._negative != other._negative
        if self._kind or other._kind:
            if self._kind == other._kind == "Infinity":
                return _signal(InvalidOperation, _nan())
            return self._special(other, lambda: _made(negative, 0, 0, "Infinity") if self._kind else _made(negative, 0, getcontext().Etiny()))
        if not other._digits:
            return self._by_zero(negative)
        # One digit more than is kept, and whether anything follows it.
        shift = max(getcontext().prec + 1 + len(str(other._digits)) - len(str(self._digits)), 0)
        whole, rest = divmod(self._digits * 10 ** shift, other._digits)
        exponent, ideal = self._exp - other._exp - shift, self._exp - other._exp
        if rest:
            return _fixed(negative, whole * 10 + 1, exponent - 1)
        while exponent < ideal and whole % 10 == 0:
            whole, exponent = whole // 10, exponent + 1
        return _fixed(negative, whole, exponent)

    def __rtruediv__(self, other):
        other = _operand(other)
        return NotImplemented if other is None else other / self

    def _by_zero(self, negative):
        if not self._digits:
            return _signal(InvalidOperation, _nan(), DivisionUndefined)
        return _signal(DivisionByZero, _made(negative, 0, 0, "Infinity"))

    def _parts(self, other):
        """The whole quotient, towards zero, and what is left."""
        if self._kind or other._kind:
            wrong = self._kind == "Infinity"
            rest = self._special(other, lambda: _signal(InvalidOperation, _nan()) if wrong else +self)
            return rest if rest._kind else _made(self._negative != other._negative, 0, 0), rest
        if not other._digits:
            return self._by_zero(self._negative != other._negative), _nan()
        low = min(self._exp, other._exp)
        whole, rest = divmod(self._digits * 10 ** (self._exp - low), other._digits * 10 ** (other._exp - low))
        return _fixed(self._negative != other._negative, whole, 0), _fixed(self._negative, rest, low)

    def __floordiv__(self, other):
        other = _operand(other)
        return NotImplemented if other is None else self._parts(other)[0]

    def __rfloordiv__(self, other):
        return Decimal(other) // self

    def __mod__(self, other):
        other = _operand(other)
        if other is not None and not other._digits and not other._kind and not self._kind:
            return _signal(InvalidOperation, _nan(), None if self._digits else DivisionUndefined)
        return NotImplemented if other is None else self._parts(other)[1]

    def __rmod__(self, other):
        return Decimal(other) % self

    def __divmod__(self, other):
        return self._parts(_operand(other))

    def __pow__(self, other, modulo=None):
        other = _operand(other)
        if other is None:
            return NotImplemented
        if other == other.to_integral_value() and abs(int(other)) < 1_000_000:
            n = int(other)
            made = _made(self._negative and n % 2 == 1, self._digits ** abs(n), self._exp * abs(n))
            return +made if n >= 0 else Decimal(1) / made
        with localcontext(rounding=ROUND_HALF_EVEN) as context:
            context.prec += 6
            made = (self.ln() * other).exp()
        return +made

    def __rpow__(self, other):
        return Decimal(other) ** self

    def _compared(self, other):
        if isinstance(other, float):
            other = Decimal.from_float(other)
        other = _operand(other)
        if other is None or "NaN" in (self._kind, other._kind):
            return None
        if self._kind or other._kind:
            rank = [0 if not d._kind else -1 if d._negative else 1 for d in (self, other)]
            return rank[0] - rank[1]
        low = min(self._exp, other._exp)
        return self._signed() * 10 ** (self._exp - low) - other._signed() * 10 ** (other._exp - low)

    def __eq__(self, other):
        return self._compared(other) == 0 if isinstance(other, (Decimal, int, float)) else NotImplemented

    def _unordered(self, other):
        if isinstance(other, float):
            _signal(FloatOperation, None)
        return isinstance(other, (Decimal, int, float)) and self._compared(other) is None and not _signal(InvalidOperation, False)

    def __lt__(self, other):
        if self._unordered(other):
            return False
        return (self._compared(other) or 0) < 0 if isinstance(other, (Decimal, int, float)) else NotImplemented

    def __gt__(self, other):
        if self._unordered(other):
            return False
        return (self._compared(other) or 0) > 0 if isinstance(other, (Decimal, int, float)) else NotImplemented

    def __le__(self, other):
        if self._unordered(other):
            return False
        return self < other or self == other if isinstance(other, (Decimal, int, float)) else NotImplemented

    def __ge__(self, other):
        if self._unordered(other):
            return False
        return self > other or self == other if isinstance(other, (Decimal, int, float)) else NotImplemented

    def compare(self, other, context=None):
        made = self._compared(other)
        return Decimal("NaN") if made is None else Decimal((made > 0) - (made < 0))

    def __int__(self):
        if self._kind:
            raise (OverflowError if self._kind == "Infinity" else ValueError)(f"cannot convert {self._kind} to integer")
        whole = self._digits * 10 ** self._exp if self._exp >= 0 else self._digits // 10 ** -self._exp
        return -whole if self._negative else whole

    __trunc__ = __int__

    def __float__(self):
        return float(str(self))

    def __round__(self, ndigits=None):
        if ndigits is None:
            return int(self.to_integral_value(ROUND_HALF_EVEN))
        return self.quantize(_made(False, 1, -ndigits))

    def __floor__(self):
        return int(self.to_integral_value(ROUND_FLOOR))

    def __ceil__(self):
        return int(self.to_integral_value(ROUND_CEILING))

    def quantize(self, exp, rounding=None, context=None):
        if context:
            return context._within(lambda: self.quantize(exp, rounding))
        rounding, wanted = rounding or getcontext().rounding, _operand(exp)._exp
        if self._exp >= wanted:
            digits = self._digits * 10 ** (self._exp - wanted)
        else:
            digits = _divided(self._digits, 10 ** (wanted - self._exp), rounding, self._negative)
        if self._kind or _operand(exp)._kind or len(str(digits)) > getcontext().prec:
            return self if self._kind == _operand(exp)._kind != "" else _signal(InvalidOperation, _nan())
        if wanted > self._exp:
            _signal(Rounded, None)
            if digits * 10 ** (wanted - self._exp) != self._digits:
                _signal(Inexact, None)
        return _made(self._negative, digits, wanted)

    def to_integral_value(self, rounding=None, context=None):
        if self._kind or self._exp >= 0:
            return self
        return _made(self._negative, _divided(self._digits, 10 ** -self._exp, rounding or getcontext().rounding, self._negative), 0)

    to_integral = to_integral_value

    def normalize(self, context=None):
        made = context._within(lambda: +self) if context else +self
        digits, exponent = made._digits, made._exp
        if not digits:
            return _made(made._negative, 0, 0, made._kind)
        while digits % 10 == 0:
            digits, exponent = digits // 10, exponent + 1
        return _made(made._negative, digits, exponent)

    def sqrt(self, context=None):
        with localcontext(context, rounding=ROUND_HALF_EVEN):
            return self._root()

    def _root(self):
        if self._negative and self._digits:
            return _signal(InvalidOperation, _nan())
        if self._kind:
            return self
        prec = getcontext().prec + 1
        exponent, digits = self._exp >> 1, self._digits * (10 if self._exp & 1 else 1)
        shift = max(prec - (len(str(digits)) + 1) // 2, 0)
        root = math.isqrt(digits * 100 ** shift)
        if root * root != digits * 100 ** shift:
            return _fixed(False, root * 10 + 1, exponent - shift - 1)
        while shift and root % 10 == 0:
            root, shift = root // 10, shift - 1
        return _fixed(False, root, exponent - shift)

    def exp(self, context=None):
        if self._kind:
            return Decimal(0) if self._kind == "Infinity" and self._negative else self
        if not self._digits:
            return Decimal(1)
        with localcontext(context, rounding=ROUND_HALF_EVEN) as inner:
            wanted, inner.prec = inner.prec, inner.prec + 10
            # exp(x) = exp(x / 2^k)^(2^k), where the series is short.
            k = max(self.adjusted() + 1, 0) * 4 + 4
            x, term, total, n = self / 2 ** k, Decimal(1), Decimal(1), 1
            while True:
                term = term * x / n
                if total + term == total:
                    break
                total, n = total + term, n + 1
            for _ in range(k):
                total = total * total
            inner.prec = wanted
            return +total

    def ln(self, context=None):
        if self._kind == "NaN" or self == Decimal("Infinity"):
            return self
        if not self._digits and not self._kind:
            return Decimal("-Infinity")
        if self < 0:
            return _signal(InvalidOperation, _nan())
        if self == 1:
            return Decimal(0)
        with localcontext(context, rounding=ROUND_HALF_EVEN) as inner:
            wanted, inner.prec = inner.prec, inner.prec + 10
            made = Decimal.from_float(math.log(self._digits) + self._exp * math.log(10))
            # Newton's method doubles the digits that are right.
            right = 14
            while right < 2 * inner.prec:
                made = made + self / made.exp() - 1
                right *= 2
            inner.prec = wanted
            return +made

    def log10(self, context=None):
        text = str(self._digits)
        if not self._negative and text.strip("0") == "1":
            return Decimal(len(text) - 1 + self._exp)
        with localcontext(context, rounding=ROUND_HALF_EVEN) as inner:
            wanted, inner.prec = inner.prec, inner.prec + 4
            made = self.ln() / Decimal(10).ln()
            inner.prec = wanted
            return +made

    def as_tuple(self):
        exponent = {"": self._exp, "NaN": "n", "Infinity": "F"}[self._kind]
        return DecimalTuple(int(self._negative), tuple([int(d) for d in str(self._digits)]), exponent)

    def as_integer_ratio(self):
        from fractions import Fraction
        made = Fraction(self._signed()) * (10 ** self._exp if self._exp >= 0 else Fraction(1, 10 ** -self._exp))
        return made.numerator, made.denominator

    def adjusted(self):
        return len(str(self._digits)) + self._exp - 1

    def copy_abs(self):
        return _made(False, self._digits, self._exp, self._kind)

    def copy_negate(self):
        return _made(not self._negative, self._digits, self._exp, self._kind)

    def copy_sign(self, other, context=None):
        return _made(_operand(other)._negative, self._digits, self._exp, self._kind)

    def fma(self, other, third, context=None):
        with localcontext(prec=MAX_PREC):
            product = self * other
        return product + third

    def remainder_near(self, other, context=None):
        other = _operand(other)
        if self._kind or other._kind or not other._digits:
            return self._parts(other)[1]
        low = min(self._exp, other._exp)
        n, d = self._digits * 10 ** (self._exp - low), other._digits * 10 ** (other._exp - low)
        whole, rest = divmod(n, d)
        if 2 * rest > d or 2 * rest == d and whole % 2:
            rest -= d
        return _fixed(self._negative != (rest < 0), abs(rest), low)

    def compare_total(self, other, context=None):
        other = _operand(other)

        def rank(x):
            sign = -1 if x._negative else 1
            return sign, sign * {"": 0, "Infinity": 1, "NaN": 2}[x._kind]
        mine, its = rank(self), rank(other)
        if mine != its:
            return Decimal(1 if mine > its else -1)
        by = 0 if self._kind else self._compared(other) or (self._exp - other._exp) * mine[0]
        return Decimal((by > 0) - (by < 0))

    def scaleb(self, other, context=None):
        return _fixed(self._negative, self._digits, self._exp + int(other))

    def logb(self, context=None):
        return Decimal(self.adjusted()) if self._digits else _signal(DivisionByZero, Decimal("-Infinity"))

    def same_quantum(self, other, context=None):
        other = _operand(other)
        return self._kind == other._kind and (bool(self._kind) or self._exp == other._exp)

    def radix(self):
        return Decimal(10)

    def canonical(self):
        return self

    def conjugate(self):
        return self

    real = property(lambda self: self)
    imag = property(lambda self: Decimal(0))

    def number_class(self, context=None):
        if self._kind == "NaN":
            return "NaN"
        word = self._kind or ("Zero" if not self._digits else "Normal" if self.is_normal() else "Subnormal")
        return ("-" if self._negative else "+") + word

    def is_normal(self, context=None):
        return bool(self._digits) and not self._kind and self.adjusted() >= getcontext().Emin

    def is_subnormal(self, context=None):
        return bool(self._digits) and not self._kind and self.adjusted() < getcontext().Emin

    def is_qnan(self):
        return self._kind == "NaN"

    def is_snan(self):
        return False

    def is_canonical(self):
        return True

    def __complex__(self):
        return complex(float(self))

    def __reduce__(self):
        return type(self), (str(self),)

    def is_nan(self):
        return self._kind == "NaN"

    def is_infinite(self):
        return self._kind == "Infinity"

    def is_finite(self):
        return not self._kind

    def is_zero(self):
        return not self

    def is_signed(self):
        return self._negative

    def max(self, other, context=None):
        other = _operand(other)
        return +(other if self._kind == "NaN" else self if other._kind == "NaN" or self >= other else other)

    def min(self, other, context=None):
        other = _operand(other)
        return +(other if self._kind == "NaN" else self if other._kind == "NaN" or self <= other else other)

    def __format__(self, spec):
        found = re.fullmatch(r"(?:(.)?([<>=^]))?([-+ ]?)(0?)(\d*)([,_]?)(?:\.(\d+))?([eEfFgGn%]?)", spec)
        if not found:
            raise ValueError("invalid format string")
        fill, align, sign, zero, width, comma, places, kind = found.groups()
        x = self if kind != "%" else _made(self._negative, self._digits, self._exp + 2)
        if not self._kind and kind in ("e", "E"):
            text = str(x._digits)
            n = len(text) - 1 if places is None else int(places)
            if x._digits:
                cut = len(text) - 1 - n
                digits = _divided(x._digits, 10 ** cut, getcontext().rounding, x._negative) if cut > 0 else x._digits * 10 ** -cut
                power = x.adjusted() + (len(str(digits)) - n - 1)
                text = str(digits)[:n + 1]
            else:
                power, text = x._exp, "0" * (n + 1)
            body = text[0] + ("." + text[1:] if n else "") + f"{kind}{power:+d}"
        elif not self._kind and (kind in ("f", "F", "%") or (places is not None and kind != "g")):
            y = x if places is None else _ample()._within(lambda: x.quantize(_made(False, 1, -int(places))))
            text = str(y._digits * 10 ** max(y._exp, 0))
            body = _placed(text, len(text) + min(y._exp, 0)) + ("%" if kind == "%" else "")
        else:
            body = str(x if places is None or x._kind else x if len(str(x._digits)) <= int(places) else _rounded(x, int(places))).lstrip("-")
        if comma:
            whole, point, rest = body.partition(".")
            body = f"{int(whole):{comma}}{point}{rest}"
        front = "-" if self._negative else "" if sign == "-" else sign
        if zero and not align:
            fill, align = "0", "="
        room = int(width or 0)
        if align == "=":
            return front + body.rjust(room - len(front), fill or " ")
        return f"{front + body:{(fill or ' ') + (align or '>')}{room}}"


def _ample():
    return Context(MAX_PREC, getcontext().rounding)


def _rounded(x, digits):
    with localcontext(prec=digits):
        return +x


def _placed(text, point):
    """Digits with the point after so many of them."""
    if point >= len(text):
        return text
    return text[:point] + "." + text[point:] if point > 0 else "0." + "0" * -point + text
