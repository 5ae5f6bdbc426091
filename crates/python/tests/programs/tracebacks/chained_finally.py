def f():
    try:
        raise ValueError('first')
    finally:
        [1][5]
f()
