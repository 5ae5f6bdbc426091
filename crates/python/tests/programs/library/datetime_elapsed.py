from datetime import datetime, timedelta
import time
start = time.time()
t0 = time.perf_counter()
n = datetime.now()
print(isinstance(start, float), time.perf_counter() >= t0, n.year > 2000, type(datetime.now() - n).__name__, time.monotonic() > 0)
print(time.strftime('%Y-%m-%d %H:%M:%S', time.gmtime(0)), time.gmtime(86400 * 365).tm_year, time.strftime('%H:%M:%S', time.gmtime(3725)), str(timedelta(seconds=int(3725.9))))
h, rem = divmod(3725, 3600); m, s = divmod(rem, 60)
print(f'{h:02d}:{m:02d}:{s:02d}'); time.sleep(0)
