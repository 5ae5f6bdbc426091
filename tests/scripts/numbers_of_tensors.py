import math, torch
t=torch.tensor(2.5)
class F:
    def __float__(self): return 4.0
for f in ("exp","sqrt","log","floor","ceil","isnan","log10","trunc"):
    for x in (t, F()):
        try: print(f, getattr(math,f)(x))
        except Exception as e: print(f, type(x).__name__, type(e).__name__, e)
for g in (lambda: math.pow(t,2), lambda: math.isclose(t,2.5), lambda: math.fsum([t,t]), lambda: math.hypot(t,t), lambda: math.log(t,2), lambda: '%.2f' % t, lambda: '%d' % t, lambda: f'{t:.1f}', lambda: sum([t,t]), lambda: max(t,torch.tensor(3.)), lambda: range(torch.tensor(3)), lambda: [1,2,3][torch.tensor(1)], lambda: 'ab'*torch.tensor(2), lambda: abs(-t), lambda: pow(t,2), lambda: int(t), lambda: bool(t), lambda: math.prod([t,t]), lambda: '{:.2e}'.format(t), lambda: '{:>8}'.format(t), lambda: str(t)):
    try: print(g())
    except Exception as e: print(type(e).__name__, e)
