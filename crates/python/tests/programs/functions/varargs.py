def f(*args, **kwargs):
    return args, kwargs
print(f(), f(1, 2), f(a=1), f(*[1], *(2, 3), **{'x': 1}, **{'y': 2}, z=3))
def g(first, *rest, opt=None, **more):
    return first, rest, opt, more
print(g(1, 2, 3, opt=4, k=5))
def wrap(fn, *a, **k):
    return fn(*a, **k)
print(wrap(g, 1, 2, opt='o'), wrap(max, 3, 9, 4))
for call in (lambda: f(**{'a': 1}, **{'a': 2}), lambda: f(a=1, **{'a': 2}), lambda: f(*5), lambda: f(**5), lambda: f(**{1: 2})):
    try:
        call()
    except TypeError as e:
        print(e)
