"""Months and weeks of the Gregorian calendar."""

import datetime
from enum import IntEnum


class Day(IntEnum):
    MONDAY, TUESDAY, WEDNESDAY, THURSDAY, FRIDAY, SATURDAY, SUNDAY = range(7)

    def __repr__(self):
        return f"calendar.{self.name}"


MONDAY, TUESDAY, WEDNESDAY, THURSDAY, FRIDAY, SATURDAY, SUNDAY = Day
JANUARY, FEBRUARY = 1, 2
month_name = ["", "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December"]
month_abbr = [name[:3] for name in month_name]
day_name = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]
day_abbr = [name[:3] for name in day_name]


class IllegalMonthError(ValueError):
    def __init__(self, month):
        self.month = month

    def __str__(self):
        return f"bad month number {self.month!r}; must be 1-12"


def isleap(year):
    return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)


def leapdays(y1, y2):
    y1, y2 = y1 - 1, y2 - 1
    return (y2 // 4 - y1 // 4) - (y2 // 100 - y1 // 100) + (y2 // 400 - y1 // 400)


def weekday(year, month, day):
    return Day(datetime.date(year, month, day).weekday())


def monthrange(year, month):
    if not 1 <= month <= 12:
        raise IllegalMonthError(month)
    days = (31, 28 + isleap(year), 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)[month - 1]
    return weekday(year, month, 1), days


def timegm(moment):
    year, month, day, hour, minute, second = moment[:6]
    days = datetime.date(year, month, 1).toordinal() - datetime.date(1970, 1, 1).toordinal() + day - 1
    return ((days * 24 + hour) * 60 + minute) * 60 + second


class Calendar:
    def __init__(self, firstweekday=0):
        self.firstweekday = firstweekday

    def iterweekdays(self):
        return iter([(self.firstweekday + i) % 7 for i in range(7)])

    def itermonthdays(self, year, month):
        first, days = monthrange(year, month)
        before = (first - self.firstweekday) % 7
        after = -(before + days) % 7
        return iter([0] * before + list(range(1, days + 1)) + [0] * after)

    def itermonthdays2(self, year, month):
        return iter([(d, (self.firstweekday + i) % 7) for i, d in enumerate(self.itermonthdays(year, month))])

    def itermonthdates(self, year, month):
        first, days = monthrange(year, month)
        before = (first - self.firstweekday) % 7
        start = datetime.date(year, month, 1) - datetime.timedelta(before)
        return iter([start + datetime.timedelta(i) for i in range(before + days + -(before + days) % 7)])

    def monthdayscalendar(self, year, month):
        days = list(self.itermonthdays(year, month))
        return [days[i:i + 7] for i in range(0, len(days), 7)]


class TextCalendar(Calendar):
    def formatweek(self, days, width=2):
        return " ".join([(f"{d:2}" if d else "").center(width) for d in days])

    def formatweekheader(self, width=2):
        return " ".join([(day_name if width >= 9 else day_abbr)[d][:width].center(width) for d in self.iterweekdays()])

    def formatmonth(self, year, month, w=0, l=0):
        w, end = max(2, w), "\n" * max(1, l)
        text = f"{month_name[month]} {year}".center(7 * (w + 1) - 1).rstrip() + end + self.formatweekheader(w).rstrip() + end
        return text + "".join([self.formatweek(week, w).rstrip() + end for week in self.monthdayscalendar(year, month)])

    def prmonth(self, year, month):
        print(self.formatmonth(year, month), end="")


_text = TextCalendar()
month, prmonth, monthcalendar = _text.formatmonth, _text.prmonth, _text.monthdayscalendar


def setfirstweekday(day):
    _text.firstweekday = day


def firstweekday():
    return _text.firstweekday
