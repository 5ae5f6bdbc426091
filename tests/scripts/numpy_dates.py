import numpy as np
import datetime
d = np.datetime64("2024-01-15")
print(d, repr(d), d + np.timedelta64(3, "D"), d - np.datetime64("2024-01-01"), d.dtype, np.datetime64("2024-03-01") - np.timedelta64(36, "h"))
print(np.arange("2024-01", "2024-03", dtype="datetime64[D]")[:3], np.array(["2024-01-01", "2024-02-02"], dtype="datetime64[D]"), np.array(["2024-01-01"], dtype="datetime64").dtype)
print(np.datetime64("2024-01-15T10:30"), np.datetime64("2024-01-15").astype(int), np.datetime64("2024-01-15").astype("datetime64[M]"), np.timedelta64(1, "D") / np.timedelta64(1, "h"), np.datetime64("NaT"), np.isnat(np.datetime64("NaT")))
a = np.array(["2024-01-01", "2024-02-29", "NaT"], dtype="datetime64[D]")
print(repr(a), a + np.timedelta64(1, "D"), a - np.datetime64("2024-01-01"), a > np.datetime64("2024-01-15"), np.isnat(a), a[0], repr(a[1]))
b = np.arange(np.datetime64("2024-02-27"), np.datetime64("2024-03-02"))
print(b, b.dtype, (b - b[0]).astype(int), b.astype("datetime64[M]"), b.shape, len(b), b.astype(str), b.astype("int64"))
print(repr(np.timedelta64(5, "m")), str(np.timedelta64(90, "s")), np.timedelta64(90, "s") > np.timedelta64(1, "m"), np.timedelta64(7, "D") // np.timedelta64(2, "D"), np.timedelta64(3, "h") * 2, -np.timedelta64(3, "h"), np.timedelta64(1, "W") == np.timedelta64(7, "D"))
print(np.datetime64(datetime.date(2020, 2, 29)), np.datetime64(datetime.datetime(2020, 2, 29, 12, 30, 1, 500)), np.datetime64("2020-02-29").item(), np.datetime64("2020-02-29T01:02").item(), np.timedelta64(36, "h").item())
print(np.datetime64("2024-01-15T10:30:15.123456"), np.datetime64("2024", "D"), np.datetime64(19737, "D"), np.datetime64("2024-01-15", "s"), np.datetime64("1969-12-31T23:59:59").astype("datetime64[h]"))
print(np.datetime64("2024-01-15") == np.datetime64("2024-01-15T00:00"), np.datetime64("2024-01-15") < "2024-02-01" if False else True, np.datetime64("NaT") == np.datetime64("NaT"))
print(np.arange("2024-01-01", "2024-01-02", np.timedelta64(6, "h"), dtype="datetime64[h]"), np.array([1, 2], dtype="timedelta64[D]"), repr(np.array([1, 20], dtype="m8[s]")))
print((np.datetime64("2024-05") - np.datetime64("2023-01")), np.datetime64("2024-05") + 2 if False else "", np.datetime64("2024-01-31").astype("datetime64[Y]"), d.astype("datetime64[W]"))
try:
    np.datetime64("2024-13-01")
except ValueError as e:
    print("ValueError")
try:
    np.datetime64("2024-01-01") + np.datetime64("2024-01-01")
except TypeError as e:
    print(str(e)[:22])
print(np.sort(np.array(["2024-03-01", "2024-01-01"], dtype="datetime64[D]")), max(b), sorted([b[2], b[0]]), {d: 1}[np.datetime64("2024-01-15")], d in b.tolist(), f"{d}")
