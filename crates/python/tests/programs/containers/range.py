r = range(2, 20, 3)
print(r, list(r), len(r), r[2], r[-1], r[1:3], 5 in r, 6 in r, r.start, r.stop, r.step, r.index(8), list(range(5, 0, -2)), list(range(0)), range(3) == range(0, 3), r.count(5))
print(list(reversed(range(3))), sum(range(101)), range(10)[::-1], max(range(5)), bool(range(0)), len(range(10 ** 12)), 10 ** 11 in range(10 ** 12))
for f in (lambda: range('a'), lambda: range(3)[5], lambda: range(0, 1, 0), lambda: range(2.0)):
    try:
        f()
    except (TypeError, IndexError, ValueError) as e:
        print(type(e).__name__, e)
