from decimal import Decimal, ROUND_DOWN, ROUND_HALF_UP, InvalidOperation, getcontext, localcontext

print(Decimal("1.1") + Decimal("2.2"), Decimal(10) / Decimal(3), repr(Decimal("1E+5")), Decimal(0.1))
print(Decimal("2.675").quantize(Decimal("0.01"), rounding=ROUND_HALF_UP), Decimal("2.665").quantize(Decimal("0.01")), Decimal("-7.9").to_integral_value(ROUND_DOWN))
print(Decimal(2).sqrt(), Decimal(7) % Decimal(-3), Decimal(7) // Decimal(-3), divmod(Decimal("-7.5"), 2), -Decimal("7.50"), abs(Decimal("-0.0")))
print(f"{Decimal('1234.567'):,.2f} {Decimal('1234.567'):.2e} {Decimal('-1234.567'):>12} {Decimal('0.256'):.1%} {Decimal('5'):05}")
print(Decimal("1.50").normalize(), Decimal("1.5") == 1.5, Decimal("0.1") == 0.1, Decimal("1.5") < 2, hash(Decimal("2.50")) == hash(2.5))
print(sum([Decimal("0.1")] * 10), round(Decimal("2.675"), 2), round(Decimal("2.5")), int(Decimal("-2.9")), float(Decimal("2.9")))
print(Decimal("1.23").as_tuple(), Decimal(2) ** 10, Decimal(2) ** Decimal("0.5"), Decimal(100).ln(), Decimal(1).exp(), Decimal(1000).log10())
print(Decimal("0.0000001"), Decimal("0.000001"), Decimal("123e-2"), max(Decimal(1), Decimal(3)), Decimal("NaN"), -Decimal("Infinity"))
with localcontext() as context:
    context.prec = 5
    print(Decimal(1) / Decimal(7), Decimal("123456.7") * 1)
print(getcontext().prec, Decimal(1) / Decimal(7))
for wrong in (lambda: Decimal("abc"), lambda: Decimal(1) / Decimal(0), lambda: Decimal(-1).sqrt(), lambda: int(Decimal("NaN"))):
    try:
        print(wrong())
    except (InvalidOperation, ZeroDivisionError, ValueError) as error:
        print(type(error).__name__)
