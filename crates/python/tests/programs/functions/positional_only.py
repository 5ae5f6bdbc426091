def f(a, b, /, c, *, d=1):
    return a, b, c, d
print(f(1, 2, 3), f(1, 2, c=3, d=4))
for call in (lambda: f(a=1, b=2, c=3), lambda: f(1, b=2, c=3), lambda: f(1)):
    try:
        call()
    except TypeError as e:
        print(e)
def g(a, /, **k):
    return a, k
print(g(1, a=2))
