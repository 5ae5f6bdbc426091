for op in (lambda: 1 / 0, lambda: 1 // 0, lambda: 1 % 0, lambda: 1.0 / 0, lambda: 1.5 // 0, lambda: 1.5 % 0, lambda: divmod(1, 0), lambda: 0 ** -1, lambda: 0.0 ** -1):
    try:
        op()
    except ZeroDivisionError as e:
        print(e)
x = 5
y = x - 5
z = (x + 1) // y + 3
