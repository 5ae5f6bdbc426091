def f(a, *, b, c=3):
    return a, b, c
print(f(1, b=2), f(1, c=0, b=9), f.__kwdefaults__)
def g(*args, sep='-'):
    return sep.join(map(str, args))
print(g(1, 2), g(1, 2, sep='+'))
for call in (lambda: f(1), lambda: f(1, 2), lambda: f(1, b=2, d=4), lambda: f()):
    try:
        call()
    except TypeError as e:
        print(e)
