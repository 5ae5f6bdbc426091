from decimal import *

D = Decimal
def t(f):
    try:
        r = f()
        print(repr(r))
    except (ArithmeticError, ValueError, TypeError) as e:
        print(type(e).__name__, str(e))
t(lambda: getcontext())
for f in (lambda: D(1) / 0, lambda: D(0) / 0, lambda: D("x"), lambda: D("nan") < 1, lambda: D("inf") - D("inf"), lambda: D("1e1000000000000000000000"), lambda: D("9e999999") * 10, lambda: D("1e-999999") / 10**30, lambda: 1 / D("Infinity"), lambda: D(7) % 0, lambda: D(-1).sqrt(), lambda: D(-1).ln(), lambda: D("0").ln(), lambda: D(5).quantize(D("1e-40"))):
    t(f)
setcontext(ExtendedContext)
for f in (lambda: D(1) / 7, lambda: D(42) / D(0), lambda: D(0) / D(0), lambda: D("x"), lambda: D("inf") * 0, lambda: D(1).exp(), lambda: getcontext(), lambda: D(12).copy_sign(D(-1)), lambda: D("12.0").compare_total(D(12)), lambda: D(2).fma(3, 5), lambda: [D(n).remainder_near(10) for n in (18, 25, 35)], lambda: D("1.23E+5").to_eng_string(), lambda: [D("-0").number_class(), D(1).number_class(), D("nan").number_class()], lambda: D("nan").max(3), lambda: D(10).log10(), lambda: D(2) ** D("0.5"), lambda: D("3.1415926535") + D("2.7182818285"), lambda: D("1E+3").scaleb(2), lambda: D(250).logb(), lambda: D("1.0").same_quantum(D("2.5")), lambda: D("2.17").same_quantum(D("2.5"))):
    t(f)
getcontext().clear_flags()
t(lambda: getcontext())
D(1) / 3
print(getcontext().flags[Inexact], getcontext().flags[Overflow])
getcontext().traps[DivisionByZero] = 1
t(lambda: D(1) / 0)
c = Context(prec=5, rounding=ROUND_DOWN)
t(lambda: c.create_decimal("1.2345678")); t(lambda: c.divide(D(1), D(3))); t(lambda: c.sqrt(D(2))); t(lambda: c.add(D("1.00005"), 1)); t(lambda: c.power(2, 10)); t(lambda: Context(prec=6, Emax=999, clamp=1).create_decimal("1.23e999"))
t(lambda: c.nothing if hasattr(c, "nothing") else "none")
c.traps[FloatOperation] = True; setcontext(c)
t(lambda: D(3.14)); t(lambda: D("3.5") < 3.7); t(lambda: D("3.5") == 3.5)
getcontext().rounding = ROUND_UP; t(lambda: round(D("1.34"), 1)); t(lambda: D(1).exp()); t(lambda: D(3).ln())
with localcontext() as l:
    l.prec = 42
    t(lambda: D(2).sqrt())
with localcontext(prec=3): t(lambda: D(2) / 3)
t(lambda: D(2) / 3)
print(f"{D('1234.5'):,.2f} {D('0.05'):.1%} {D('1e3')}", hash(D("1.5")) == hash(1.5), D("1.10").normalize(), sum([D("0.1")] * 10), float(D("1.1")), complex(D(2)))
