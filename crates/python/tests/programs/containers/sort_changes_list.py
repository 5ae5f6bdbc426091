x = list(range(100))
class K:
    def __init__(s, v): s.v = v
    def __lt__(s, o): x.append(1) if len(x) < 1000 else None; return s.v < o.v
x = [K(i % 7) for i in range(50)]
try: x.sort()
except ValueError as e: print(e)
print(len(x))
y = list(range(50))
try: y.sort(key=lambda v: (y.clear(), v)[1])
except ValueError as e: print(e)
print(len(y))
