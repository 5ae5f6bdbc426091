from datetime import datetime, timedelta, date, time, timezone
d = datetime(2024, 2, 28, 13, 5, 9, 123456)
print(d, repr(d), d.isoformat(), d.date(), d.time(), d.year, d.weekday(), d.isoweekday(), d.isocalendar()[:], d.strftime('%Y-%m-%d %H:%M:%S.%f %a %A %b %B %j %I %p %y %d/%m %%'), f'{d:%H:%M}')
print(d + timedelta(days=2), d - timedelta(hours=14), (datetime(2024, 3, 1) - d), d.replace(day=1, microsecond=0), d < datetime(2025, 1, 1), d == datetime(2024, 2, 28), date(2024, 2, 29) + timedelta(365), max(date(2024, 1, 1), date(2023, 1, 1)))
t = timedelta(days=1, hours=2, minutes=3, seconds=4.5); print(t, repr(t), t.total_seconds(), t.days, t.seconds, -t, t * 2, t / 2, t // timedelta(hours=1), abs(timedelta(-1)), timedelta(seconds=3661), str(timedelta(milliseconds=1500)), timedelta(0), timedelta(hours=1) < t, timedelta(1) == timedelta(hours=24), sum([timedelta(1)] * 3, timedelta()))
print(datetime.strptime('2024-05-06 07:08:09', '%Y-%m-%d %H:%M:%S'), datetime.strptime('Jan 5, 2021 3PM', '%b %d, %Y %I%p'), datetime.fromisoformat('2024-01-02T03:04:05'), date.fromisoformat('2024-01-02'), datetime.combine(date(2020, 1, 1), time(5, 6)), time(1, 2), date(2024, 1, 1).toordinal(), date.fromordinal(738000))
print(datetime.fromtimestamp(0, timezone.utc), datetime(1970, 1, 2, tzinfo=timezone.utc).timestamp(), timezone(timedelta(hours=5, minutes=30)), datetime(2024, 1, 1, tzinfo=timezone.utc).astimezone(timezone(timedelta(hours=-3))), datetime(2024, 1, 1, tzinfo=timezone.utc).isoformat())
for f in (lambda: date(2023, 2, 29), lambda: datetime(2024, 13, 1), lambda: datetime.strptime('x', '%Y'), lambda: datetime.strptime('2024 z', '%Y'), lambda: date.fromisoformat('nope'), lambda: d - datetime(2024, 1, 1, tzinfo=timezone.utc), lambda: time(25)):
    try:
        f()
    except (ValueError, TypeError) as e:
        print(e)
