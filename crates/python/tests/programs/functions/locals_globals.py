x = 1
def f(a):
    b = 2
    return sorted(locals().items())
print(f(5))
print('x' in globals(), globals()['x'], callable(globals()['f']))
globals()['made'] = 3
print(made)
def g():
    x = 10
    return globals()['x'], locals()['x']
print(g())
