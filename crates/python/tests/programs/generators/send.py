def avg():
    total, n, mean = 0, 0, None
    while True:
        x = yield mean
        if x is None:
            return total
        total += x; n += 1; mean = total / n
g = avg()
print(next(g), g.send(10), g.send(20))
try:
    g.send(None)
except StopIteration as e:
    print('returned', e.value)
h = avg()
try:
    h.send(5)
except TypeError as e:
    print(e)
