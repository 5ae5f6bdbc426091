import datetime as D
datetime, date, time, timedelta = D.datetime, D.date, D.time, D.timedelta
for t in ("2011-11-04", "20111104", "2011-11-04T00:05:23", "2011-11-04 00:05:23.283", "2011-11-04 00:05:23.283+00:00", "2011-11-04T00:05:23+04:00", "20111104T000523", "2011-W01-2T00:05:23.283", "2011-W01-2", "2011W012", "2011W01", "2011-W01", "2021-W53-5", "2011-11-04T00:05:23Z", "2011-11-04T00", "2011-11-04T0005", "2011-11-04T00:05,", "2011-11-04T00:05:23,123456789", "2011-13-04", "2011-11-04T", "x", "2011-11-04T25:00", "2011-1-4", "2011-11-04T00:05:23-07:30:15", "2011-02-30", "2011-11-04T00:05:23.5", "20111104 10", "2011-W60-1"):
    for c in (date, datetime):
        try:
            print(t, repr(c.fromisoformat(t)))
        except ValueError as e:
            print(t, c.__name__, e)
for t in ("04:23:01", "T04:23:01", "T042301", "04:23:01.000384", "04:23:01,000", "04:23:01+04:00", "04:23:01Z", "04:23:01+00:00", "4:23", "04:2", "24:00"):
    try:
        print(t, repr(time.fromisoformat(t)))
    except ValueError as e:
        print(t, e)
t = time(12, 10, 30, tzinfo=D.timezone(timedelta(hours=1)))
print(t.dst(), t.tzname(), t.utcoffset(), t.replace(minute=5), t.replace(tzinfo=None), t.strftime("%H:%M:%S %Z"), f"The {'time'} is {t:%H:%M}.")
