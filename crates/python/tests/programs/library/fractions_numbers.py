from fractions import Fraction

for value in [
    Fraction(3, 6),
    Fraction('0.125'),
    Fraction('-3/4'),
    Fraction('1.5e-2'),
    Fraction(1, 3) + 1,
    Fraction(1, 2) < 0.7,
    float(Fraction(1, 3)),
    Fraction(7, 3) // 1,
    round(Fraction(7, 3)),
    round(Fraction(5, 2)),
    round(Fraction(22, 7), 2),
    Fraction(0.5),
    Fraction(3.14159).limit_denominator(100),
    repr(Fraction(-4, 6)),
    Fraction(1, 2) ** 2,
    Fraction(2, 3) ** -2,
    2 * Fraction(1, 4),
    hash(Fraction(4, 2)) == hash(2),
    sum([Fraction(1, i) for i in range(1, 5)]),
    abs(Fraction(-1, 2)),
    divmod(Fraction(7, 2), 2),
    1 / Fraction(2, 3),
    1.5 + Fraction(1, 2),
    int(Fraction(-7, 2)),
    Fraction(1, 3) == Fraction(2, 6),
    Fraction(4, 2).denominator,
    max(Fraction(1, 3), Fraction(1, 2)),
    bool(Fraction(0)),
]:
    print(value)
for make in (lambda: Fraction(1, 0), lambda: Fraction('x'), lambda: Fraction(1.5, 2), lambda: Fraction([])):
    try:
        make()
    except Exception as error:
        print(type(error).__name__, error)
