"""datetime64 and timedelta64: whole numbers of a unit, from 1970 on. Arrays of them are arrays of objects."""

import datetime
import re

# Each unit as so many of the one behind it; months and days are told by the calendar.
_UNITS = ["Y", "M", "W", "D", "h", "m", "s", "ms", "us", "ns"]
_PARTS = {"Y": 12, "W": 7, "D": 24, "h": 60, "m": 60, "s": 1000, "ms": 1000, "us": 1000}
_LONG = {"Y": "years", "M": "months", "W": "weeks", "D": "days", "h": "hours", "m": "minutes", "s": "seconds", "ms": "milliseconds",
         "us": "microseconds", "ns": "nanoseconds", "generic": "generic time units"}
_FORM = re.compile(r"(-?\d{4})(?:-(\d\d)(?:-(\d\d)(?:[T ](\d\d)(?::?(\d\d)(?::?(\d\d)(?:\.(\d{1,9}))?)?)?)?)?)?Z?$")
_EPOCH = 719163


def unit_of(dtype):
    """The unit in the name of a type, `None` if it has none; other types are refused."""
    found = re.fullmatch(r"(datetime64|timedelta64|M8|m8)(?:\[(\w+)\])?", dtype.lstrip("<"))
    if not found or found.group(2) not in (None, "generic", *_UNITS):
        raise TypeError(f"data type {dtype!r} not understood")
    return (timedelta64 if found.group(1)[0] in "mt" else datetime64), found.group(2)


def _days(months):
    return datetime.date(1970 + months // 12, months % 12 + 1, 1).toordinal() - _EPOCH


def _month(days):
    date = datetime.date.fromordinal(days + _EPOCH)
    return (date.year - 1970) * 12 + date.month - 1


def _converted(n, of, to, calendar):
    """A number of one unit as one of another, rounded down."""
    if n is None or of == to or "generic" in (of, to):
        return n
    a, b = _UNITS.index(of), _UNITS.index(to)
    if a < 2 <= b:
        if not calendar:
            raise TypeError(f"Cannot cast NumPy timedelta64 scalar from metadata [{of}] to [{to}] according to the rule 'same_kind'")
        return _converted(_days(_converted(n, of, "M", True)), "D", to, calendar)
    if b < 2 <= a:
        if not calendar:
            raise TypeError(f"Cannot cast NumPy timedelta64 scalar from metadata [{of}] to [{to}] according to the rule 'same_kind'")
        return _converted(_month(_converted(n, of, "D", True)), "M", to, calendar)
    size = 1
    for unit in _UNITS[min(a, b):max(a, b)]:
        size *= _PARTS[unit]
    if calendar and of == "W":
        n, size = n * size, 1
    return n * size if a <= b else n // size


def _finer(a, b):
    return b if a == "generic" else a if b == "generic" else max(a, b, key=_UNITS.index)


class _Time:
    shape, ndim, size = (), 0, 1

    @property
    def dtype(self):
        from numpy._objects import _Kind
        return _Kind(f"{type(self).__name__}[{self.unit}]")

    def _in(self, unit):
        return _converted(self.n, self.unit, unit, type(self) is datetime64)

    def astype(self, dtype):
        import numpy
        if dtype in (object, "O", "object"):
            return self.item()
        try:
            return numpy.array(self.n, numpy._name(dtype))[()]
        except TypeError:
            cls, unit = unit_of(str(getattr(dtype, "name", dtype)))
            return cls(self, unit or self.unit)

    view = astype

    def __add__(self, other):
        other = _as(other, self)
        return other if other is NotImplemented else _sum(self, other, 1)

    __radd__ = __add__

    def __sub__(self, other):
        other = _as(other, self)
        return other if other is NotImplemented else _sum(self, other, -1)

    def __rsub__(self, other):
        other = _as(other, self)
        return other if other is NotImplemented else _sum(other, self, -1)

    def __hash__(self):
        return hash(self._in("ns") if self.unit not in ("Y", "M", "generic") else (self.n, self.unit))

    def __repr__(self):
        text = str(self)
        return f"np.{type(self).__name__}('{text}')" if type(self) is datetime64 or self.n is None else f"np.timedelta64({self.n},'{self.unit}')"


def _compared(name):
    def compare(self, other):
        other = _as(other, self)
        if other is NotImplemented:
            return other
        if self.n is None or other.n is None:
            return name == "__ne__"
        unit = _finer(self.unit, other.unit)
        return getattr(self._in(unit), name)(other._in(unit))
    return compare


for _name in ("__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__"):
    setattr(_Time, _name, _compared(_name))


def _as(value, like):
    """An operand beside a time."""
    if isinstance(value, _Time):
        return value
    if type(like) is datetime64 and isinstance(value, (str, datetime.date)):
        return datetime64(value)
    if isinstance(value, datetime.timedelta):
        return timedelta64(value)
    return timedelta64(value, like.unit) if isinstance(value, int) else NotImplemented


def _sum(a, b, sign):
    """Both in the finer unit; times less times are spans."""
    unit = _finer(a.unit, b.unit)
    both = type(a) is datetime64 and type(b) is datetime64
    if both and sign > 0:
        raise TypeError("ufunc 'add' cannot use operands with types " + f"{a.dtype!r} and {b.dtype!r}")
    if type(b) is datetime64 and type(a) is timedelta64 and sign < 0:
        raise TypeError("ufunc 'subtract' cannot use operands with types " + f"{a.dtype!r} and {b.dtype!r}")
    made = timedelta64 if both or type(a) is type(b) else datetime64
    x, y = a._in(unit), b._in(unit)
    return made(None if x is None or y is None else x + sign * y, unit)


class datetime64(_Time):
    def __init__(self, value=None, unit=None):
        if isinstance(value, datetime64):
            value, unit = value._in(unit or value.unit), unit or value.unit
        elif isinstance(value, datetime.datetime):
            days = value.toordinal() - _EPOCH
            whole = ((days * 24 + value.hour) * 60 + value.minute) * 60 + value.second
            value, unit = _converted(whole * 1000000 + value.microsecond, "us", unit or "us", True), unit or "us"
        elif isinstance(value, datetime.date):
            value, unit = _converted(value.toordinal() - _EPOCH, "D", unit or "D", True), unit or "D"
        elif isinstance(value, str):
            value, unit = _read(value, unit)
        elif value is not None and unit is None:
            raise ValueError("Converting an integer to a NumPy datetime requires a specified unit")
        self.n, self.unit = None if value is None else int(value), unit or "generic"

    def item(self):
        if self.n is None:
            return None
        if self.unit == "ns":
            return self.n
        date = datetime.date.fromordinal(self._in("D") + _EPOCH)
        if self.unit in ("Y", "M", "W", "D"):
            return date
        return datetime.datetime(date.year, date.month, date.day) + datetime.timedelta(microseconds=self._in("us") % 86400000000)

    tolist = item

    def __str__(self):
        if self.n is None:
            return "NaT"
        date = str(datetime.date.fromordinal(self._in("D") + _EPOCH))
        if self.unit in ("Y", "M", "W", "D"):
            return date[:{"Y": 4, "M": 7}.get(self.unit, 10)]
        rest = self._in("ns") % 86400000000000
        whole, part = divmod(rest, 1000000000)
        time = f"{whole // 3600:02d}:{whole // 60 % 60:02d}:{whole % 60:02d}.{part:09d}"
        return date + "T" + time[:{"h": 2, "m": 5, "s": 8, "ms": 12, "us": 15, "ns": 18}[self.unit]]


def _read(text, unit):
    if text in ("NaT", "nat", ""):
        return None, unit
    if text in ("now", "today"):
        made = datetime64(datetime.datetime.utcnow() if text == "now" else datetime.date.today(), "s" if text == "now" else "D")
        return made._in(unit or made.unit), unit or made.unit
    found = _FORM.match(text)
    if not found:
        raise ValueError(f'Error parsing datetime string "{text}" at position 0')
    year, month, day, hour, minute, second, part = found.groups()
    given = [year, month, day, hour, minute, second].index(None) if None in (year, month, day, hour, minute, second) else 6
    own = ["Y", "M", "D", "h", "m", "s"][given - 1] if not part else "ms" if len(part) <= 3 else "us" if len(part) <= 6 else "ns"
    days = datetime.date(int(year), int(month or 1), int(day or 1)).toordinal() - _EPOCH
    n = ((days * 24 + int(hour or 0)) * 60 + int(minute or 0)) * 60 + int(second or 0)
    return _converted(n * 1000000000 + int((part or "0").ljust(9, "0")), "ns", unit or own, True), unit or own


class timedelta64(_Time):
    def __init__(self, value=0, unit=None):
        if isinstance(value, timedelta64):
            value, unit = value._in(unit or value.unit), unit or value.unit
        elif isinstance(value, datetime.timedelta):
            whole = (value.days * 86400 + value.seconds) * 1000000 + value.microseconds
            value, unit = _converted(whole, "us", unit or "us", False), unit or "us"
        elif value == "NaT":
            value = None
        self.n, self.unit = None if value is None else int(value), unit or "generic"

    def __mul__(self, other):
        if not isinstance(other, (int, float)):
            return NotImplemented
        return timedelta64(None if self.n is None else int(self.n * other), self.unit)

    __rmul__ = __mul__

    def _over(self, other, divide):
        if isinstance(other, _Time):
            import numpy
            unit = _finer(self.unit, other.unit)
            return numpy.nan if None in (self.n, other.n) else numpy._scalar(divide(self._in(unit), other._in(unit)))
        return timedelta64(None if self.n is None else int(self.n / other), self.unit)

    def __truediv__(self, other):
        return self._over(other, lambda a, b: a / b)

    def __floordiv__(self, other):
        return self._over(other, lambda a, b: a // b)

    def __mod__(self, other):
        unit = _finer(self.unit, other.unit)
        return timedelta64(self._in(unit) % other._in(unit), unit)

    def __neg__(self):
        return timedelta64(None if self.n is None else -self.n, self.unit)

    def __abs__(self):
        return -self if self.n is not None and self.n < 0 else self

    def __bool__(self):
        return bool(self.n)

    def __int__(self):
        return self.n

    def item(self):
        if self.n is None or self.unit in ("Y", "M", "ns", "generic"):
            return self.n
        return datetime.timedelta(microseconds=self._in("us"))

    tolist = item

    def __str__(self):
        return "NaT" if self.n is None else f"{self.n} {_LONG[self.unit]}"


for _class in (datetime64, timedelta64):
    _class.__module__ = "numpy"


def isnat(x):
    return x._each(lambda v: v.n is None) if hasattr(x, "_places") else x.n is None


def made(items, cls, unit):
    """Items of one unit, the finest that there is, and the name of their type."""
    items = [cls(v, unit) for v in items] if unit else [cls(v) for v in items]
    for v in items:
        unit = v.unit if unit is None else _finer(unit, v.unit)
    return [cls(v, unit) for v in items], f"{cls.__name__}[{unit or 'generic'}]"


def counted(start, stop, step, dtype):
    """`arange` of times."""
    import numpy
    cls, unit = unit_of(str(dtype)) if dtype is not None else (type(stop if start is None else start), None)
    start, stop = (cls(0, stop.unit) if start is None else cls(start, unit)), stop
    stop = start + stop if isinstance(stop, int) or type(stop) is not cls and isinstance(stop, timedelta64) else cls(stop, unit)
    step = step if isinstance(step, timedelta64) else timedelta64(step, start.unit if unit is None else unit)
    unit = unit or _finer(_finer(start.unit, stop.unit), step.unit)
    values = range(start._in(unit), stop._in(unit), step._in(unit))
    return numpy.array([cls(n, unit) for n in values], f"{cls.__name__}[{unit}]")
