def f(a=1 / 0):
    pass
