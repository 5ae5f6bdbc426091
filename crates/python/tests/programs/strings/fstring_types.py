print(f'{None} {True} {[1, "a"]} {(1,)} {{}} {{1}} { {1: 2} } {1+2j} {b"x"}')
print(f'{None!r:>6} {True:5} {True:d} {1e10} {1e16} {1e-5} {float("nan")} {float("inf"):8}|')
for bad in ('{:d}', '{:.2f}', '{:>5}', '{:x}'):
    for v in ('s', 1.5, None, [1]):
        try:
            print(bad.format(v))
        except (ValueError, TypeError) as e:
            print(type(e).__name__, e)
