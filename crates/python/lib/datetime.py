"""Dates and times (proleptic Gregorian), with fixed time zones."""
# Long: one module, as in CPython.
import time as _time
from collections import namedtuple as _namedtuple

MINYEAR, MAXYEAR = 1, 9999
_BEFORE = [0, 0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334]
_DAYS = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]
_FULL_DAYS = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]
_FULL_MONTHS = ["", "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December"]
_MONTHS = [m[:3] for m in _FULL_MONTHS]


def _leap(y):
    return y % 4 == 0 and (y % 100 != 0 or y % 400 == 0)


def _days_in(y, m):
    return 29 if m == 2 and _leap(y) else [0, 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][m]


def _ordinal(y, m, d):
    p = y - 1
    return p * 365 + p // 4 - p // 100 + p // 400 + _BEFORE[m] + (m > 2 and _leap(y)) + d


def _from_ordinal(n):
    n -= 1
    n400, n = divmod(n, 146097)
    n100, n = divmod(n, 36524)
    n4, n = divmod(n, 1461)
    n1, n = divmod(n, 365)
    y = n400 * 400 + n100 * 100 + n4 * 4 + n1 + 1
    if n1 == 4 or n100 == 4:
        return y - 1, 12, 31
    m = 1
    while n >= _days_in(y, m):
        n -= _days_in(y, m)
        m += 1
    return y, m, n + 1


def _check_date(y, m, d):
    for x in (y, m, d):
        if not isinstance(x, int):
            raise TypeError(f"'{type(x).__name__}' object cannot be interpreted as an integer")
    if not MINYEAR <= y <= MAXYEAR:
        raise ValueError(f"year {y} is out of range")
    if not 1 <= m <= 12:
        raise ValueError("month must be in 1..12")
    if not 1 <= d <= _days_in(y, m):
        raise ValueError("day is out of range for month")


def _check_time(h, m, s, us):
    if not 0 <= h <= 23:
        raise ValueError("hour must be in 0..23")
    if not 0 <= m <= 59:
        raise ValueError("minute must be in 0..59")
    if not 0 <= s <= 59:
        raise ValueError("second must be in 0..59")
    if not 0 <= us <= 999999:
        raise ValueError("microsecond must be in 0..999999")


def _round(x):
    # To the nearest integer, halves to even ones.
    return round(x)


class _IsoCalendarDate(_namedtuple("IsoCalendarDate", "year week weekday")):
    def __repr__(self):
        return f"datetime.IsoCalendarDate(year={self.year}, week={self.week}, weekday={self.weekday})"


class timedelta:
    _tp_name = "datetime.timedelta"

    def __init__(self, days=0, seconds=0, microseconds=0, milliseconds=0, minutes=0, hours=0, weeks=0):
        for name, v in (("days", days), ("seconds", seconds), ("microseconds", microseconds), ("milliseconds", milliseconds), ("minutes", minutes), ("hours", hours), ("weeks", weeks)):
            if not isinstance(v, (int, float)):
                raise TypeError(f"unsupported type for timedelta {name} component: {type(v).__name__}")
        whole, rest = 0, 0.0
        for v, unit in ((weeks, 604800000000), (days, 86400000000), (hours, 3600000000), (minutes, 60000000), (seconds, 1000000), (milliseconds, 1000), (microseconds, 1)):
            if isinstance(v, int):
                whole += v * unit
            else:
                i = int(v)
                whole += i * unit
                part = (v - i) * unit
                j = int(part)
                whole += j
                rest += part - j
        total = whole + _round(rest) if rest else whole
        self._set(total)

    def __reduce__(self):
        return type(self), (self.days, self.seconds, self.microseconds)

    def _set(self, total):
        self.days, rest = divmod(total, 86400000000)
        self.seconds, self.microseconds = divmod(rest, 1000000)
        if abs(self.days) > 999999999:
            raise OverflowError(f"days={self.days}; must have magnitude <= 999999999")

    @classmethod
    def _of(cls, total):
        self = timedelta.__new__(timedelta)
        self._set(total)
        return self

    def _us(self):
        return (self.days * 86400 + self.seconds) * 1000000 + self.microseconds

    def total_seconds(self):
        return self._us() / 10 ** 6

    def __repr__(self):
        parts = [f"{n}={getattr(self, n)}" for n in ("days", "seconds", "microseconds") if getattr(self, n)]
        return f"datetime.timedelta({', '.join(parts) or '0'})"

    def __str__(self):
        m, s = divmod(self.seconds, 60)
        h, m = divmod(m, 60)
        text = f"{h}:{m:02d}:{s:02d}"
        if self.days:
            text = f"{self.days} day{'s' if abs(self.days) != 1 else ''}, {text}"
        return text + f".{self.microseconds:06d}" if self.microseconds else text

    def __add__(self, other):
        return timedelta._of(self._us() + other._us()) if isinstance(other, timedelta) else NotImplemented

    __radd__ = __add__

    def __sub__(self, other):
        return timedelta._of(self._us() - other._us()) if isinstance(other, timedelta) else NotImplemented

    def __neg__(self):
        return timedelta._of(-self._us())

    def __pos__(self):
        return self

    def __abs__(self):
        return timedelta._of(abs(self._us()))

    def __mul__(self, other):
        if isinstance(other, int):
            return timedelta._of(self._us() * other)
        if isinstance(other, float):
            a, b = other.as_integer_ratio()
            return timedelta._of(_divide(self._us() * a, b))
        return NotImplemented

    __rmul__ = __mul__

    def __truediv__(self, other):
        if isinstance(other, timedelta):
            return self._us() / other._us()
        if isinstance(other, int):
            return timedelta._of(_divide(self._us(), other))
        if isinstance(other, float):
            a, b = other.as_integer_ratio()
            return timedelta._of(_divide(self._us() * b, a))
        return NotImplemented

    def __floordiv__(self, other):
        if isinstance(other, timedelta):
            return self._us() // other._us()
        return timedelta._of(self._us() // other) if isinstance(other, int) else NotImplemented

    def __mod__(self, other):
        return timedelta._of(self._us() % other._us()) if isinstance(other, timedelta) else NotImplemented

    def __divmod__(self, other):
        q, r = divmod(self._us(), other._us())
        return q, timedelta._of(r)

    def __eq__(self, other):
        return self._us() == other._us() if isinstance(other, timedelta) else NotImplemented

    def __lt__(self, other):
        return self._us() < other._us() if isinstance(other, timedelta) else NotImplemented

    def __le__(self, other):
        return self._us() <= other._us() if isinstance(other, timedelta) else NotImplemented

    def __gt__(self, other):
        return self._us() > other._us() if isinstance(other, timedelta) else NotImplemented

    def __ge__(self, other):
        return self._us() >= other._us() if isinstance(other, timedelta) else NotImplemented

    def __hash__(self):
        return hash(self._us())

    def __bool__(self):
        return self._us() != 0


def _divide(a, b):
    # To the nearest integer, halves to even ones.
    if b < 0:
        a, b = -a, -b
    q, r = divmod(a, b)
    if 2 * r > b or 2 * r == b and q % 2:
        q += 1
    return q


timedelta.min = timedelta(-999999999)
timedelta.max = timedelta(days=999999999, hours=23, minutes=59, seconds=59, microseconds=999999)
timedelta.resolution = timedelta(microseconds=1)


class tzinfo:
    pass


def _offset_text(offset, separator=":"):
    if offset is None:
        return ""
    us = offset._us()
    sign = "-" if us < 0 else "+"
    minutes, rest = divmod(abs(us), 60000000)
    text = f"{sign}{minutes // 60:02d}{separator}{minutes % 60:02d}"
    if rest:
        text += f"{separator}{rest // 1000000:02d}"
        if rest % 1000000:
            text += f".{rest % 1000000:06d}"
    return text


class timezone(tzinfo):
    _tp_name = "datetime.timezone"

    def __init__(self, offset, name=None):
        if not isinstance(offset, timedelta):
            raise TypeError("timezone() argument 1 must be datetime.timedelta, not " + type(offset).__name__)
        if not -timedelta(hours=24) < offset < timedelta(hours=24):
            raise ValueError(f"offset must be a timedelta strictly between -timedelta(hours=24) and timedelta(hours=24), not {offset!r}.")
        self._offset, self._name = offset, name

    def __reduce__(self):
        return (getattr, (timezone, "utc")) if self is timezone.utc else (type(self), (self._offset, self._name))

    def utcoffset(self, dt):
        return self._offset

    def tzname(self, dt):
        if self._name is not None:
            return self._name
        return "UTC" + (_offset_text(self._offset) if self._offset else "")

    def dst(self, dt):
        return None

    def fromutc(self, dt):
        return dt + self._offset

    def __eq__(self, other):
        return self._offset == other._offset if isinstance(other, timezone) else NotImplemented

    def __hash__(self):
        return hash(self._offset)

    def __repr__(self):
        if self is timezone.utc:
            return "datetime.timezone.utc"
        if self._name is None:
            return f"datetime.timezone({self._offset!r})"
        return f"datetime.timezone({self._offset!r}, {self._name!r})"

    def __str__(self):
        return self.tzname(None)


timezone.utc = timezone(timedelta(0))
UTC = timezone.utc


def _format(o, spec, year, month, day, hour, minute, second, us, tz):
    out, i = [], 0
    weekday = (_ordinal(year, month, day) + 6) % 7
    yearday = _ordinal(year, month, day) - _ordinal(year, 1, 1) + 1
    while i < len(spec):
        c = spec[i]
        i += 1
        if c != "%" or i == len(spec):
            out.append(c)
            continue
        c = spec[i]
        i += 1
        colon = c == ":" and spec[i:i + 1] == "z"
        if colon:
            i += 1
            c = "z"
        bare = c == "-" and i < len(spec)
        if bare:
            c = spec[i]
            i += 1
        hour12 = (hour % 12) or 12
        values = {
            "Y": lambda: f"{year:04d}" if year >= 1000 else str(year), "m": lambda: f"{month:02d}", "d": lambda: f"{day:02d}", "H": lambda: f"{hour:02d}", "M": lambda: f"{minute:02d}",
            "S": lambda: f"{second:02d}", "f": lambda: f"{us:06d}", "y": lambda: f"{year % 100:02d}", "j": lambda: f"{yearday:03d}",
            "I": lambda: f"{hour12:02d}", "p": lambda: "AM" if hour < 12 else "PM", "a": lambda: _DAYS[weekday], "A": lambda: _FULL_DAYS[weekday],
            "b": lambda: _MONTHS[month], "h": lambda: _MONTHS[month], "B": lambda: _FULL_MONTHS[month], "w": lambda: str((weekday + 1) % 7), "u": lambda: str(weekday + 1),
            "c": lambda: f"{_DAYS[weekday]} {_MONTHS[month]} {day:2d} {hour:02d}:{minute:02d}:{second:02d} {year}",
            "x": lambda: f"{month:02d}/{day:02d}/{year % 100:02d}", "X": lambda: f"{hour:02d}:{minute:02d}:{second:02d}",
            "D": lambda: f"{month:02d}/{day:02d}/{year % 100:02d}", "T": lambda: f"{hour:02d}:{minute:02d}:{second:02d}", "R": lambda: f"{hour:02d}:{minute:02d}",
            "F": lambda: f"{year}-{month:02d}-{day:02d}", "e": lambda: f"{day:2d}", "n": lambda: "\n", "t": lambda: "\t", "%": lambda: "%",
            "z": lambda: _offset_text(tz.utcoffset(o) if tz else None, ":" if colon else ""), "Z": lambda: (tz.tzname(o) or "") if tz else "",
            "U": lambda: f"{(yearday + 6 - (weekday + 1) % 7) // 7:02d}", "W": lambda: f"{(yearday + 6 - weekday) // 7:02d}",
            "s": lambda: str(int((_ordinal(year, month, day) - 719163) * 86400 + hour * 3600 + minute * 60 + second)),
            "k": lambda: f"{hour:2d}", "l": lambda: f"{hour12:2d}", "r": lambda: f"{hour12:02d}:{minute:02d}:{second:02d} {'AM' if hour < 12 else 'PM'}", "C": lambda: f"{year // 100:02d}",
            "G": lambda: str(date(year, month, day).isocalendar()[0]), "V": lambda: f"{date(year, month, day).isocalendar()[1]:02d}",
        }
        text = values[c]() if c in values else f"%{'-' * bare}{c}"
        out.append((text.lstrip("0 ") or "0") if bare and c in "dmHMSIjyUWVekl" else text)
    return "".join(out)


class date:
    _tp_name = "datetime.date"

    def __new__(cls, year, month=None, day=None):
        for at, name in (2, "month"), (3, "day"):
            if (month, day)[at - 2] is None:
                raise TypeError(f"function missing required argument '{name}' (pos {at})")
        _check_date(year, month, day)
        self = object.__new__(cls)
        self.year, self.month, self.day = year, month, day
        return self

    def __reduce__(self):
        return type(self), (self.year, self.month, self.day)

    @classmethod
    def today(cls):
        return cls.fromtimestamp(_time.time())

    @classmethod
    def fromtimestamp(cls, t):
        t = int(t // 1) + _offset(t)
        return cls.fromordinal(t // 86400 + 719163)

    @classmethod
    def fromordinal(cls, n):
        return cls(*_from_ordinal(n))

    @classmethod
    def fromisocalendar(cls, year, week, day):
        first = _ordinal(year, 1, 4)
        monday = first - (first + 6) % 7
        last = _ordinal(year + 1, 1, 4)
        weeks = (last - (last + 6) % 7 - monday) // 7
        if not 1 <= week <= weeks:
            raise ValueError(f"Invalid week: {week}")
        if not 1 <= day <= 7:
            raise ValueError(f"Invalid weekday: {day} (range is [1, 7])")
        return cls.fromordinal(monday + (week - 1) * 7 + day - 1)

    @classmethod
    def fromisoformat(cls, text):
        if not isinstance(text, str):
            raise TypeError("fromisoformat: argument must be str")
        return cls(*_iso_date(text, text))

    def toordinal(self):
        return _ordinal(self.year, self.month, self.day)

    def weekday(self):
        return (self.toordinal() + 6) % 7

    def isoweekday(self):
        return self.toordinal() % 7 or 7

    def isocalendar(self):
        def first(y):
            start = _ordinal(y, 1, 1)
            weekday = (start + 6) % 7
            monday = start - weekday
            return monday + 7 if weekday > 3 else monday
        y, today = self.year, self.toordinal()
        monday = first(y)
        if today < monday:
            y -= 1
            monday = first(y)
        elif y < MAXYEAR and today >= first(y + 1):
            y += 1
            monday = first(y)
        week, day = divmod(today - monday, 7)
        return _IsoCalendarDate(y, week + 1, day + 1)

    def isoformat(self):
        return f"{self.year:04d}-{self.month:02d}-{self.day:02d}"

    __str__ = isoformat

    def ctime(self):
        return self.strftime("%c")

    def strftime(self, fmt):
        return _format(self, fmt, self.year, self.month, self.day, 0, 0, 0, 0, None)

    def __format__(self, fmt):
        return self.strftime(fmt) if fmt else str(self)

    def timetuple(self):
        return _struct(self.year, self.month, self.day, 0, 0, 0, -1)

    def replace(self, year=None, month=None, day=None):
        return type(self)(self.year if year is None else year, self.month if month is None else month, self.day if day is None else day)

    def __repr__(self):
        return f"datetime.date({self.year}, {self.month}, {self.day})"

    def _key(self):
        return self.toordinal()

    def _comparable(self, other):
        if isinstance(other, datetime):
            raise TypeError("can't compare datetime.datetime to datetime.date")
        return isinstance(other, date)

    def __eq__(self, other):
        comparable = isinstance(other, date) and isinstance(self, datetime) == isinstance(other, datetime)
        return self._key() == other._key() if comparable else NotImplemented

    def __lt__(self, other):
        return self._key() < other._key() if self._comparable(other) else NotImplemented

    def __le__(self, other):
        return self._key() <= other._key() if self._comparable(other) else NotImplemented

    def __gt__(self, other):
        return self._key() > other._key() if self._comparable(other) else NotImplemented

    def __ge__(self, other):
        return self._key() >= other._key() if self._comparable(other) else NotImplemented

    def __hash__(self):
        return hash(self._key())

    def __add__(self, other):
        if not isinstance(other, timedelta):
            return NotImplemented
        n = self.toordinal() + other.days
        if not 1 <= n <= 3652059:
            raise OverflowError("date value out of range")
        return type(self).fromordinal(n)

    __radd__ = __add__

    def __sub__(self, other):
        if isinstance(other, timedelta):
            return self + timedelta(-other.days)
        if isinstance(other, date) and not isinstance(other, datetime):
            return timedelta(self.toordinal() - other.toordinal())
        return NotImplemented


date.min, date.max, date.resolution = date(1, 1, 1), date(9999, 12, 31), timedelta(1)


class time:
    _tp_name = "datetime.time"

    def __init__(self, hour=0, minute=0, second=0, microsecond=0, tzinfo=None, *, fold=0):
        _check_time(hour, minute, second, microsecond)
        self.hour, self.minute, self.second, self.microsecond, self.tzinfo, self.fold = hour, minute, second, microsecond, tzinfo, fold

    def __reduce__(self):
        return type(self), (self.hour, self.minute, self.second, self.microsecond, self.tzinfo)

    @classmethod
    def fromisoformat(cls, text):
        if not isinstance(text, str):
            raise TypeError("fromisoformat: argument must be str")
        return cls(*_iso_clock(text.removeprefix("T"), text))

    def isoformat(self, timespec="auto"):
        return _iso_time(self.hour, self.minute, self.second, self.microsecond, timespec) + _offset_text(self.utcoffset())

    def __str__(self):
        return self.isoformat()

    def utcoffset(self):
        return None if self.tzinfo is None else self.tzinfo.utcoffset(None)

    def dst(self):
        return None if self.tzinfo is None else self.tzinfo.dst(None)

    def tzname(self):
        return None if self.tzinfo is None else self.tzinfo.tzname(None)

    def strftime(self, fmt):
        return _format(self, fmt, 1900, 1, 1, self.hour, self.minute, self.second, self.microsecond, self.tzinfo)

    def __format__(self, fmt):
        return self.strftime(fmt) if fmt else str(self)

    def replace(self, hour=None, minute=None, second=None, microsecond=None, tzinfo=True, *, fold=None):
        given = zip((hour, minute, second, microsecond), self._key())
        zone = self.tzinfo if tzinfo is True else tzinfo
        return type(self)(*[old if new is None else new for new, old in given], zone, fold=self.fold if fold is None else fold)

    def _key(self):
        return self.hour, self.minute, self.second, self.microsecond

    def __eq__(self, other):
        return self._key() == other._key() if isinstance(other, time) else NotImplemented

    def __lt__(self, other):
        return self._key() < other._key() if isinstance(other, time) else NotImplemented

    def __le__(self, other):
        return self._key() <= other._key() if isinstance(other, time) else NotImplemented

    def __hash__(self):
        return hash(self._key())

    def __repr__(self):
        parts = [str(self.hour), str(self.minute)]
        if self.second or self.microsecond:
            parts.append(str(self.second))
        if self.microsecond:
            parts.append(str(self.microsecond))
        if self.tzinfo is not None:
            parts.append(f"tzinfo={self.tzinfo!r}")
        return f"datetime.time({', '.join(parts)})"


time.min, time.max, time.resolution = time(0), time(23, 59, 59, 999999), timedelta(microseconds=1)


def _iso_date(part, text):
    """Year, month and day of a date as ISO 8601 writes it, by month or by week."""
    import re
    found = re.fullmatch(r"([0-9]{4})(-?)([0-9]{2})\2([0-9]{2})", part)
    if found:
        year, month, day = int(found[1]), int(found[3]), int(found[4])
        _check_date(year, month, day)
        return year, month, day
    found = re.fullmatch(r"([0-9]{4})(-?)W([0-9]{2})(?:\2([0-9]))?", part)
    if not found:
        raise ValueError(f"Invalid isoformat string: {text!r}")
    try:
        made = date.fromisocalendar(int(found[1]), int(found[3]), int(found[4] or 1))
    except ValueError:
        raise ValueError(f"Invalid isoformat string: {text!r}") from None
    return made.year, made.month, made.day


def _iso_parts(part, text):
    """Hours, minutes, seconds and microseconds."""
    import re
    found = re.fullmatch(r"([0-9]{2})(?:(:?)([0-9]{2})(?:\2([0-9]{2})(?:[.,]([0-9]+))?)?)?", part)
    if not found:
        raise ValueError(f"Invalid isoformat string: {text!r}")
    return int(found[1]), int(found[3] or 0), int(found[4] or 0), int(((found[5] or "") + "000000")[:6])


def _iso_clock(part, text):
    at = max(part.find("+"), part.find("-"))
    zone = None
    if part[-1:] in ("Z", "z"):
        part, zone = part[:-1], timezone.utc
    elif at >= 0:
        h, m, s, us = _iso_parts(part[at + 1:], text)
        delta = timedelta(hours=h, minutes=m, seconds=s, microseconds=us)
        zone = timezone(-delta if part[at] == "-" else delta) if delta else timezone.utc
        part = part[:at]
    return *_iso_parts(part, text), zone


def _iso_time(h, m, s, us, timespec):
    if timespec == "auto":
        timespec = "microseconds" if us else "seconds"
    forms = {"hours": f"{h:02d}", "minutes": f"{h:02d}:{m:02d}", "seconds": f"{h:02d}:{m:02d}:{s:02d}",
             "milliseconds": f"{h:02d}:{m:02d}:{s:02d}.{us // 1000:03d}", "microseconds": f"{h:02d}:{m:02d}:{s:02d}.{us:06d}"}
    if timespec not in forms:
        raise ValueError("Unknown timespec value")
    return forms[timespec]


def _offset(t):
    # How far the local time is ahead of UTC, in seconds.
    local = _time.localtime(t)
    return local.tm_gmtoff or 0


def _struct(y, m, d, hh, mm, ss, dst):
    n = _ordinal(y, m, d)
    return _time.struct_time((y, m, d, hh, mm, ss, (n + 6) % 7, n - _ordinal(y, 1, 1) + 1, dst))


class datetime(date):
    _tp_name = "datetime.datetime"

    def __new__(cls, year, month=None, day=None, hour=0, minute=0, second=0, microsecond=0, tzinfo=None, *, fold=0):
        self = date.__new__(cls, year, month, day)
        _check_time(hour, minute, second, microsecond)
        self.hour, self.minute, self.second, self.microsecond, self.tzinfo, self.fold = hour, minute, second, microsecond, tzinfo, fold
        return self

    def __reduce__(self):
        return type(self), (self.year, self.month, self.day, self.hour, self.minute, self.second, self.microsecond, self.tzinfo)

    @classmethod
    def _of(cls, us, tz):
        # From microseconds since the start of year 1.
        days, rest = divmod(us, 86400000000)
        if not 0 <= days < 3652059:
            raise OverflowError("date value out of range")
        y, m, d = _from_ordinal(days + 1)
        seconds, us = divmod(rest, 1000000)
        return cls(y, m, d, seconds // 3600, seconds // 60 % 60, seconds % 60, us, tz)

    def _us(self):
        return ((self.toordinal() - 1) * 86400 + self.hour * 3600 + self.minute * 60 + self.second) * 1000000 + self.microsecond

    @classmethod
    def now(cls, tz=None):
        return cls.fromtimestamp(_time.time(), tz)

    @classmethod
    def today(cls):
        return cls.now()

    @classmethod
    def utcnow(cls):
        return cls.fromtimestamp(_time.time(), timezone.utc).replace(tzinfo=None)

    @classmethod
    def fromtimestamp(cls, t, tz=None):
        whole = int(t // 1)
        us = whole * 1000000 + _round((t - whole) * 1e6) + 62135596800000000
        if tz is None:
            return cls._of(us + _offset(t) * 1000000, None)
        return cls._of(us + tz.utcoffset(None)._us(), tz)

    @classmethod
    def utcfromtimestamp(cls, t):
        return cls.fromtimestamp(t, timezone.utc).replace(tzinfo=None)

    @classmethod
    def combine(cls, date, time, tzinfo=True):
        return cls(date.year, date.month, date.day, time.hour, time.minute, time.second, time.microsecond, time.tzinfo if tzinfo is True else tzinfo)

    @classmethod
    def fromisoformat(cls, text):
        if not isinstance(text, str):
            raise TypeError("fromisoformat: argument must be str")
        if text[4:6] == "-W":
            end = 10 if text[8:9] == "-" and text[9:10].isdigit() and not text[10:11].isdigit() else 8
        elif text[4:5] == "W":
            # Seven characters name a week, and an eighth its day, where what follows is no other digit of a time.
            end = 7
            while text[end:end + 1].isdigit():
                end += 1
            end = end if end < 9 else 8 if end % 2 == 0 else 7
        else:
            end = 10 if text[4:5] == "-" else 8
        clock = text[end + 1:]
        if text[end:end + 1] and not clock:
            raise ValueError(f"Invalid isoformat string: {text!r}")
        return cls(*_iso_date(text[:end], text), *(_iso_clock(clock, text) if clock else ()))

    @classmethod
    def strptime(cls, text, fmt):
        return _parse(cls, text, fmt)

    def date(self):
        return date(self.year, self.month, self.day)

    def time(self):
        return time(self.hour, self.minute, self.second, self.microsecond)

    def timetz(self):
        return time(self.hour, self.minute, self.second, self.microsecond, self.tzinfo)

    def utcoffset(self):
        return None if self.tzinfo is None else self.tzinfo.utcoffset(self)

    def tzname(self):
        return None if self.tzinfo is None else self.tzinfo.tzname(self)

    def dst(self):
        return None if self.tzinfo is None else self.tzinfo.dst(self)

    def timestamp(self):
        us = self._us() - 62135596800000000
        if self.tzinfo is not None:
            return (us - self.utcoffset()._us()) / 10 ** 6
        return (us - _offset(us // 1000000) * 1000000) / 10 ** 6

    def astimezone(self, tz=None):
        offset = self.utcoffset()
        us = self._us() - (offset._us() if offset is not None else _offset((self._us() - 62135596800000000) // 1000000) * 1000000)
        if tz is None:
            tz = timezone(timedelta(seconds=_offset((us - 62135596800000000) // 1000000)))
        return type(self)._of(us + tz.utcoffset(None)._us(), tz)

    def timetuple(self):
        return _struct(self.year, self.month, self.day, self.hour, self.minute, self.second, -1)

    def isoformat(self, sep="T", timespec="auto"):
        return f"{date.isoformat(self)}{sep}{_iso_time(self.hour, self.minute, self.second, self.microsecond, timespec)}{_offset_text(self.utcoffset())}"

    def __str__(self):
        return self.isoformat(" ")

    def __repr__(self):
        parts = [self.year, self.month, self.day, self.hour, self.minute]
        if self.second or self.microsecond:
            parts.append(self.second)
        if self.microsecond:
            parts.append(self.microsecond)
        text = ", ".join(map(str, parts))
        return f"datetime.datetime({text}, tzinfo={self.tzinfo!r})" if self.tzinfo is not None else f"datetime.datetime({text})"

    def strftime(self, fmt):
        return _format(self, fmt, self.year, self.month, self.day, self.hour, self.minute, self.second, self.microsecond, self.tzinfo)

    def replace(self, year=None, month=None, day=None, hour=None, minute=None, second=None, microsecond=None, tzinfo=True):
        pick = lambda new, old: old if new is None else new
        return type(self)(pick(year, self.year), pick(month, self.month), pick(day, self.day), pick(hour, self.hour), pick(minute, self.minute),
                          pick(second, self.second), pick(microsecond, self.microsecond), self.tzinfo if tzinfo is True else tzinfo)

    def _key(self):
        offset = self.utcoffset()
        return self._us() - (offset._us() if offset is not None else 0)

    def _comparable(self, other):
        return isinstance(other, datetime)

    def __eq__(self, other):
        if not isinstance(other, datetime):
            return NotImplemented
        return (self.tzinfo is None) == (other.tzinfo is None) and self._key() == other._key()

    def __hash__(self):
        return hash(self._key())

    def _ordered(self, other):
        if not isinstance(other, datetime):
            if isinstance(other, date):
                raise TypeError("can't compare datetime.datetime to datetime.date")
            return False
        if (self.tzinfo is None) != (other.tzinfo is None):
            raise TypeError("can't compare offset-naive and offset-aware datetimes")
        return True

    def __lt__(self, other):
        return self._key() < other._key() if self._ordered(other) else NotImplemented

    def __le__(self, other):
        return self._key() <= other._key() if self._ordered(other) else NotImplemented

    def __gt__(self, other):
        return self._key() > other._key() if self._ordered(other) else NotImplemented

    def __ge__(self, other):
        return self._key() >= other._key() if self._ordered(other) else NotImplemented

    def __add__(self, other):
        if not isinstance(other, timedelta):
            return NotImplemented
        return type(self)._of(self._us() + other._us(), self.tzinfo)

    __radd__ = __add__

    def __sub__(self, other):
        if isinstance(other, timedelta):
            return type(self)._of(self._us() - other._us(), self.tzinfo)
        if isinstance(other, datetime):
            if (self.tzinfo is None) != (other.tzinfo is None):
                raise TypeError("can't subtract offset-naive and offset-aware datetimes")
            return timedelta._of(self._key() - other._key())
        return NotImplemented


datetime.min, datetime.max, datetime.resolution = datetime(1, 1, 1), datetime(9999, 12, 31, 23, 59, 59, 999999), timedelta(microseconds=1)


def _digits(text, at, most):
    end = at
    while end < len(text) and end - at < most and text[end].isdigit():
        end += 1
    return end


def _parse(cls, text, fmt):
    mismatch = ValueError(f"time data {text!r} does not match format {fmt!r}")
    fields = {"Y": 1900, "m": 1, "d": 1, "H": 0, "M": 0, "S": 0, "f": 0}
    widths = {"Y": 4, "m": 2, "d": 2, "H": 2, "I": 2, "M": 2, "S": 2, "f": 6, "y": 2, "j": 3}
    tz, pm, at, i = None, None, 0, 0
    fmt_full = fmt
    for short, long in (("%D", "%m/%d/%y"), ("%T", "%H:%M:%S"), ("%R", "%H:%M"), ("%F", "%Y-%m-%d"), ("%c", "%a %b %d %H:%M:%S %Y"), ("%x", "%m/%d/%y"), ("%X", "%H:%M:%S")):
        fmt_full = fmt_full.replace(short, long)
    while i < len(fmt_full):
        c = fmt_full[i]
        i += 1
        if c.isspace():
            if not text[at:at + 1].isspace():
                raise mismatch
            while text[at:at + 1].isspace():
                at += 1
            continue
        if c != "%":
            if text[at:at + 1].lower() != c.lower():
                raise mismatch
            at += 1
            continue
        c = fmt_full[i:i + 1]
        i += 1
        if c in widths:
            end = _digits(text, at, widths[c])
            if end == at or c == "Y" and end - at != 4 or c == "y" and end - at != 2:
                raise mismatch
            digits = text[at:end]
            value = int((digits + "00000")[:6]) if c == "f" else int(digits)
            if c in ("m", "d", "H", "I", "M", "S"):
                low, high = {"m": (1, 12), "d": (1, 31), "H": (0, 23), "I": (1, 12), "M": (0, 59), "S": (0, 61)}[c]
                if not low <= value <= high:
                    # Two digits that make no such number are one digit and something else.
                    value, end = int(digits[0]), at + 1
                    if not low <= value <= high:
                        raise mismatch
            if c == "y":
                fields["Y"] = value + (1900 if value >= 69 else 2000)
            elif c == "j":
                fields["j"] = value
            else:
                fields["H" if c == "I" else c] = value
                pm = False if c == "I" and pm is None else pm
            at = end
        elif c in ("a", "A", "b", "B", "h", "p"):
            names = {"a": _DAYS, "A": _FULL_DAYS, "b": _MONTHS, "h": _MONTHS, "B": _FULL_MONTHS, "p": ["AM", "PM"]}[c]
            for n, name in enumerate(names):
                if name and text[at:at + len(name)].lower() == name.lower():
                    at += len(name)
                    break
            else:
                raise mismatch
            if c in "bBh":
                fields["m"] = n
            elif c == "p":
                pm = n == 1
        elif c == "z":
            if text[at:at + 1] == "Z":
                tz, at = timezone.utc, at + 1
            else:
                sign = text[at:at + 1]
                zone = text[at + 1:at + 6]
                colon = zone[2:3] == ":"
                digits = zone[:2] + zone[3:5] if colon else zone[:4]
                if sign not in ("+", "-") or len(digits) != 4 or not digits.isdigit():
                    raise mismatch
                delta = timedelta(hours=int(digits[:2]), minutes=int(digits[2:]))
                tz = timezone(delta if sign == "+" else -delta) if delta else timezone.utc
                at += 6 if colon else 5
        elif c == "Z":
            for name in ("UTC", "GMT"):
                if text.startswith(name, at):
                    at += 3
                    break
            else:
                raise mismatch
        elif c == "%":
            if text[at:at + 1] != "%":
                raise mismatch
            at += 1
        elif not c:
            raise ValueError(f"stray % in format {fmt!r}")
        else:
            raise ValueError(f"{c!r} is a bad directive in format {fmt!r}")
    if at < len(text):
        raise ValueError(f"unconverted data remains: {text[at:]}")
    if pm is not None:
        fields["H"] = fields["H"] % 12 + (12 if pm else 0)
    if "j" in fields:
        _, fields["m"], fields["d"] = _from_ordinal(_ordinal(fields["Y"], 1, 1) + fields["j"] - 1)
    return cls(fields["Y"], fields["m"], fields["d"], fields["H"], fields["M"], fields["S"], fields["f"], tz)
