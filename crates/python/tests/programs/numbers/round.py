print(round(2.5), round(3.5), round(-2.5), round(0.5), round(1.5), round(2.675, 2), round(1.005, 2), round(1234.5678, 2), round(1234.5678, -2), round(1234, -2), round(1250, -2), round(1350, -2), round(15, -1), round(2.0), round(2.5, 0), round(1e20), round(5e15 + 0.5))
print(type(round(2.0)).__name__, type(round(2.0, 1)).__name__, round(-0.4), round(0.1 + 0.2, 10), round(1.23456789, 4))
for bad in (float('nan'), float('inf')):
    try:
        round(bad)
    except (ValueError, OverflowError) as e:
        print(type(e).__name__, e)
