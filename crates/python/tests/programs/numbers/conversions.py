print(int('12'), int(' -7 '), int('ff', 16), int('0x1f', 16), int('0b101', 0), int('1_000'), int(True), int('z', 36), int(3.99), int(-3.99), int(b'12'))
print(float('1.5'), float('1e3'), float(' inf '), float('-nan') != 0, float(5), float('1_0.5'), float(True))
print(bin(10), oct(64), hex(255), hex(-255), bin(-5), complex('1+2j'), bool('False'), bool(0.0), bool(-1))
for f in (lambda: int('1.5'), lambda: int(''), lambda: int('12', 37), lambda: int('9', 8), lambda: float('x'), lambda: float(''), lambda: int(None), lambda: float([]), lambda: int('1', 2.0), lambda: int(float('nan')), lambda: int(float('inf')), lambda: float(10 ** 400)):
    try:
        print(f())
    except (ValueError, TypeError, OverflowError) as e:
        print(type(e).__name__, e)
