"""Working days, and dates as texts."""

import datetime
import numpy as np


def _days(dates):
    return np._as(dates if not isinstance(dates, (str, datetime.date)) else np.datetime64(dates, "D"))


def _each(function, dates, kind):
    """A function of the days since 1970."""
    a = np.array(dates, "datetime64[D]")
    made = np.array([function(v) for v in a.astype("int64").reshape(-1).tolist()], kind).reshape(a.shape)
    return made if a.ndim else made[()]


def _rule(weekmask, holidays):
    """Which days count as worked; 1970 began on a Thursday."""
    names = "Mon Tue Wed Thu Fri Sat Sun".split()
    if isinstance(weekmask, str):
        weekmask = [c == "1" for c in weekmask] if set(weekmask) <= {"0", "1"} else [n in weekmask for n in names]
    free = set(np.array(list(holidays), "datetime64[D]").astype("int64").tolist()) if len(holidays) else set()
    return lambda day: bool(weekmask[(day + 3) % 7]) and day not in free


def is_busday(dates, weekmask="1111100", holidays=()):
    return _each(_rule(weekmask, holidays), dates, "bool")


def busday_count(begindates, enddates, weekmask="1111100", holidays=()):
    works = _rule(weekmask, holidays)
    a, b = np.broadcast_arrays(*[np.array(d, "datetime64[D]").astype("int64") for d in (begindates, enddates)])

    def one(first, last):
        if first > last:
            return -sum([works(d) for d in range(last + 1, first + 1)])
        return sum([works(d) for d in range(first, last)])
    made = np.array([one(*v) for v in zip(a.reshape(-1).tolist(), b.reshape(-1).tolist())], "int64").reshape(a.shape)
    return made if a.ndim else made[()]


def busday_offset(dates, offsets, roll="raise", weekmask="1111100", holidays=()):
    works = _rule(weekmask, holidays)
    if roll not in ("raise", "forward", "following", "backward", "preceding"):
        raise NotImplementedError(f"numpy.busday_offset(roll={roll!r})")

    def one(day, n):
        if not works(day) and roll == "raise":
            raise ValueError("Non-business day date in busday_offset")
        step = 1 if roll in ("forward", "following") else -1
        while not works(day):
            day += step
        while n:
            day += 1 if n > 0 else -1
            n -= (1 if n > 0 else -1) if works(day) else 0
        return day
    a, n = np.broadcast_arrays(np.array(dates, "datetime64[D]").astype("int64"), np._as(offsets))
    made = np.array([one(*v) for v in zip(a.reshape(-1).tolist(), n.reshape(-1).tolist())], "int64").reshape(a.shape).astype("datetime64[D]")
    return made if a.ndim else made[()]


def datetime_as_string(arr, unit=None, timezone="naive", casting="same_kind"):
    if timezone != "naive":
        raise NotImplementedError("numpy.datetime_as_string(timezone=..)")
    a = np._as(arr)
    a = a if unit in (None, "auto") else a.astype(f"datetime64[{unit}]")
    made = np.array([str(v) for v in a.reshape(-1).tolist()] if not hasattr(a, "_flat") else [str(v) for v in a._flat()]).reshape(a.shape)
    return made if a.ndim else made[()]
