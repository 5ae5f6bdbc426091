def f(x):
    return 10 / x
print(f(5))
print(f(0))
