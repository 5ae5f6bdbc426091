log = []
def t(x):
    log.append(x)
    return x
def f(*a, **k): return a, k
f(t(1), *[t(2)], t(3), k=t(4), **{'z': t(5)})
print(log); log.clear()
{t('k1'): t('v1'), t('k2'): t('v2')}
print(log); log.clear()
x = [0, 0]
x[t(0)], x[t(1)] = t(5), t(6)
print(log, x); log.clear()
t(1) + t(2) * t(3)
print(log); log.clear()
def g(a=t('default')): pass
@(lambda f: (t('decorate'), f)[1])
def h(a=t('d2')): pass
print(log)
