def f(a, b=2, c=None):
    return a, b, c
print(f(1), f(1, 3), f(1, c=5), f(b=1, a=0), f(*[1, 2], **{'c': 3}))
def g(x, acc=[]):
    acc.append(x)
    return acc
print(g(1), g(2), g(3, []))
print(f.__defaults__, g.__defaults__, f.__name__)
n = 5
def h(v=n):
    return v
n = 6
print(h())
