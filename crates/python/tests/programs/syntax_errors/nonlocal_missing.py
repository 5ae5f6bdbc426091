def f():
    nonlocal y
    y = 1
