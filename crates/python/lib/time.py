"""Clocks and calendars of seconds."""
from _time import time, time_ns, perf_counter, perf_counter_ns, monotonic, monotonic_ns, process_time, thread_time, sleep
from _files import utc_offset as _utc_offset

process_time_ns = perf_counter_ns
tzname = ("UTC", "UTC")
timezone = altzone = daylight = 0


class struct_time(tuple):
    _names = ("tm_year", "tm_mon", "tm_mday", "tm_hour", "tm_min", "tm_sec", "tm_wday", "tm_yday", "tm_isdst")
    tm_gmtoff = 0
    tm_zone = "UTC"

    def __getattr__(self, name):
        if name in struct_time._names:
            return self[struct_time._names.index(name)]
        raise AttributeError(f"'time.struct_time' object has no attribute '{name}'")

    def __repr__(self):
        return f"time.struct_time({', '.join([f'{n}={v}' for n, v in zip(struct_time._names, self)])})"


def _broken_down(seconds):
    from datetime import _from_ordinal, _ordinal
    days, rest = divmod(int(seconds // 1), 86400)
    y, m, d = _from_ordinal(days + 719163)
    return struct_time((y, m, d, rest // 3600, rest // 60 % 60, rest % 60, (days + 3) % 7, days + 719163 - _ordinal(y, 1, 1) + 1, 0))


def gmtime(seconds=None):
    return _broken_down(time() if seconds is None else seconds)


def localtime(seconds=None):
    offset = _utc_offset()
    made = _broken_down((time() if seconds is None else seconds) + offset)
    made.tm_gmtoff = offset
    return made


def mktime(t):
    from datetime import _ordinal
    return float((_ordinal(t[0], t[1], t[2]) - 719163) * 86400 + t[3] * 3600 + t[4] * 60 + t[5] - _utc_offset())


def strftime(format, t=None):
    from datetime import _format
    t = localtime() if t is None else t
    return _format(None, format, t[0], t[1], t[2], t[3], t[4], t[5], 0, None)


def strptime(string, format="%a %b %d %H:%M:%S %Y"):
    from datetime import datetime
    return datetime.strptime(string, format).timetuple()


def asctime(t=None):
    t = localtime() if t is None else t
    return strftime(f"%a %b {t[2]:2d} %H:%M:%S %Y", t)


def ctime(seconds=None):
    return asctime(localtime(seconds))


def get_clock_info(name):
    from types import SimpleNamespace
    return SimpleNamespace(implementation="host", monotonic=name != "time", adjustable=False, resolution=1e-6)
