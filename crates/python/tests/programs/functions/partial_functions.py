from functools import partial
def f(a, b, c=3): return a, b, c
p = partial(f, 1)
q = partial(p, c=9)
print(p(2), q(2), p.func is f, p.args, q.keywords, q(2, c=0))
print(list(map(partial(pow, 2), range(5))), partial(int, base=2)('101'))
norm = partial(print, end='!\n')
norm('hey')
class A: pass
mk = partial(dict, x=1)
print(mk(y=2))
