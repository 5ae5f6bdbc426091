import datetime, time, calendar
from datetime import *
D = date(2024, 2, 29); T = datetime(2024, 3, 1, 14, 5, 6, 789); TZ = timezone(timedelta(hours=2)); U = timezone.utc

def attempt(line):
    try:
        value = eval(line)
    except BaseException as e:
        return f"{type(e).__name__}: {e}"
    return repr(value)
for line in r'''
D
str(D)
D.year
D.isoformat()
D.weekday()
D.isoweekday()
D.isocalendar()
D.toordinal()
D.timetuple()
D.ctime()
D.strftime('%Y/%m/%d %a %A %b %B %j %U %W %w %y %%')
D.replace(year=2023, day=1)
date.fromisoformat('2024-01-05')
date.fromordinal(738000)
date.min
date.max
date.resolution
date.fromisocalendar(2024, 9, 4)
date.fromtimestamp(0)
D + timedelta(days=1)
D - date(2024, 1, 1)
D < date(2025, 1, 1)
D == date(2024, 2, 29)
hash(D) == hash(date(2024, 2, 29))
D - timedelta(weeks=1)
max(D, date(2023, 1, 1))
repr(D)
f'{D:%d}'
bool(D)
D.replace(year=2023)
date(2024, 13, 1)
date(2024, 2, 30)
date(0, 1, 1)
date('2024', 1, 1)
date(2024, 1)
D + 1
D - T
D < T
D + D
date.fromisoformat('2024-1-5')
date.fromisoformat('abc')
date.max + timedelta(1)
T
str(T)
T.isoformat()
T.isoformat(' ', 'seconds')
T.isoformat(timespec='milliseconds')
T.date()
T.time()
T.timestamp() if 0 else 0
T.strftime('%H:%M:%S.%f %p %I %c %x %X %Z %z|')
T.replace(hour=0, tzinfo=U)
T.weekday()
T.toordinal()
T.timetuple()
T.utcoffset()
T.tzinfo
datetime(2024, 1, 1)
datetime(2024, 1, 1, 5)
str(datetime(2024, 1, 1))
datetime(2024, 1, 1, 1, 1, 1)
datetime.min
datetime.max
datetime.fromtimestamp(0, U)
datetime.fromtimestamp(1.5, U)
datetime.utcfromtimestamp(0) if 0 else 0
datetime.fromisoformat('2024-01-02T03:04:05')
datetime.fromisoformat('2024-01-02 03:04:05.123456+02:00')
datetime.fromisoformat('2024-01-02')
datetime.fromisoformat('2024-01-02T03:04:05Z')
datetime.combine(D, time(1, 2))
datetime.strptime('2024-03-01 10:20', '%Y-%m-%d %H:%M')
datetime.strptime('1 Mar 24', '%d %b %y')
datetime.strptime('10:30 PM', '%I:%M %p')
datetime.strptime('2024-060', '%Y-%j')
datetime.strptime('2024-01-01T00:00:00+0100', '%Y-%m-%dT%H:%M:%S%z')
datetime.strptime('Friday, March 01', '%A, %B %d')
datetime.strptime('1.25', '%S.%f')
datetime.strptime('abc', '%Y')
datetime.strptime('2024 x', '%Y')
datetime.strptime('2024-13-01', '%Y-%m-%d')
datetime.strptime('2024-02-30', '%Y-%m-%d')
datetime.strptime('2024', '%Q')
datetime(2024, 1, 1, 25)
datetime(2024, 1, 1, 0, 60)
datetime.fromisoformat('2024-01-01T25:00')
datetime.fromisoformat('x')
datetime(2024, 1, 1, tzinfo=U)
str(datetime(2024, 1, 1, tzinfo=TZ))
datetime(2024, 1, 1, tzinfo=TZ).astimezone(U)
datetime(2024, 1, 1, 12, tzinfo=U).timestamp()
datetime(2024, 1, 1, tzinfo=U) == datetime(2024, 1, 1, 2, tzinfo=TZ)
datetime(2024, 1, 1, tzinfo=U).isoformat()
datetime(2024, 1, 1, tzinfo=TZ).utcoffset()
datetime(2024, 1, 1, tzinfo=U).tzname()
datetime(2024,1,1,tzinfo=TZ).strftime('%z %Z')
datetime(2024,1,1,tzinfo=TZ).dst()
datetime(2024, 1, 1) < datetime(2024, 1, 1, tzinfo=U)
datetime(2024, 1, 1) - datetime(2024, 1, 1, tzinfo=U)
datetime(2024, 1, 1) == datetime(2024, 1, 1, tzinfo=U)
datetime(2024, 1, 2) - datetime(2024, 1, 1)
datetime(2024, 1, 1) + timedelta(hours=25)
datetime(2024, 1, 1) - timedelta(seconds=1)
T == T.replace()
T > datetime(2020, 1, 1)
hash(T) == hash(T.replace())
timedelta(days=1, hours=2, minutes=3, seconds=4, milliseconds=5, microseconds=6)
str(timedelta(days=1, hours=2))
str(timedelta(seconds=5))
str(timedelta(days=-1))
str(timedelta(microseconds=1))
repr(timedelta())
timedelta(weeks=1).days
timedelta(hours=25).seconds
timedelta(1.5)
timedelta(seconds=1.5).microseconds
timedelta(hours=2).total_seconds()
-timedelta(hours=1)
abs(timedelta(-1))
timedelta(1) * 2
timedelta(1) / 2
timedelta(1) / timedelta(hours=1)
timedelta(1) // timedelta(hours=5)
timedelta(1) % timedelta(hours=5)
divmod(timedelta(1), timedelta(hours=5))
timedelta(1) // 3
timedelta(1) < timedelta(2)
bool(timedelta())
timedelta(1) + timedelta(2)
timedelta(1) * 1.5
sum([timedelta(1), timedelta(2)], timedelta())
timedelta.max
timedelta.min
timedelta.resolution
hash(timedelta(1)) == hash(timedelta(hours=24))
str(timedelta(days=2, seconds=3, microseconds=4))
timedelta('a')
timedelta(1) + 1
timedelta(1) / 0
timedelta(1) < 5
time(1, 2, 3)
str(time(1, 2))
time(1, 2, 3, 4).isoformat()
time.fromisoformat('04:05:06')
time(1).replace(minute=5)
time(1) < time(2)
time(12, 30).strftime('%I:%M %p')
time(1, tzinfo=U)
time.min
time.max
bool(time(0))
time(1, 2, 3).isoformat('minutes')
time(24)
time(1) - time(2)
timezone.utc
timezone(timedelta(hours=-5, minutes=-30))
str(timezone(timedelta(hours=2)))
timezone(timedelta(hours=1), 'CET')
str(timezone(timedelta(hours=1), 'CET'))
timezone.utc.utcoffset(None)
timezone.utc == timezone(timedelta(0))
U.tzname(None)
timezone(timedelta(hours=25))
timezone(5)
calendar.isleap(2024)
calendar.monthrange(2024, 2)
calendar.month_name[3]
calendar.day_abbr[0]
calendar.weekday(2024, 1, 1)
calendar.leapdays(2000, 2024)
list(calendar.month_abbr)[:3]
calendar.MONDAY
calendar.timegm((1970, 1, 2, 0, 0, 0))
calendar.monthcalendar(2024, 2)
calendar.month(2024, 2)
calendar.TextCalendar(6).formatmonth(2024, 3)
list(calendar.Calendar().itermonthdays(2024, 2))[:5]
calendar.day_name[6]
calendar.firstweekday()
calendar.monthrange(2024, 13)
__import__('time').strftime('%Y-%m-%d', __import__('time').gmtime(0))
__import__('time').gmtime(86400)
__import__('time').strptime('2024-01-02', '%Y-%m-%d')[:6]
__import__('time').mktime(__import__('time').gmtime(0))
__import__('time').asctime(__import__('time').gmtime(0))
__import__('time').ctime(0)
__import__('time').struct_time((2024, 1, 2, 3, 4, 5, 0, 1, 0)).tm_year
type(__import__('time').time())
type(__import__('time').perf_counter_ns())
__import__('time').timezone
__import__('time').gmtime(0).tm_yday
'''.splitlines():
    if line.strip():
        print(line, '->', attempt(line))
