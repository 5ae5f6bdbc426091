t = (1, 2, 3)
print(t[0], t[-1], t[1:], t + (4,), t * 2, len(t), 2 in t, t.index(3), t.count(1), (1,), (), tuple('ab'), tuple([1]), t == (1, 2, 3), t < (1, 3), hash(t) == hash((1, 2, 3)))
x, *y = t
print(x, y, min(t), max(t), sum(t), sorted(t, reverse=True), (1, (2, 3)), ((),))
for f in (lambda: t[5], lambda: t.append(1), lambda: t.index(9), lambda: t + [1]):
    try:
        f()
    except (IndexError, AttributeError, ValueError, TypeError) as e:
        print(type(e).__name__, e)
try:
    t[0] = 1
except TypeError as e:
    print(e)
