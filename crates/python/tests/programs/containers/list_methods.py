x = [3, 1, 2]
x.append(4); x.extend([5, 6]); x.insert(0, 0); x.insert(-1, 9); x.insert(100, 7)
print(x, x.pop(), x.pop(0), x.pop(-2), x)
x.remove(3); x.reverse(); print(x, x.index(2), x.count(1), 5 in x)
x.sort(); print(x); x.sort(reverse=True); print(x); y = x.copy(); x.clear(); print(x, y)
for f in (lambda: y.remove(99), lambda: y.index(99), lambda: [].pop(), lambda: y.pop(99), lambda: y.insert('a', 1)):
    try:
        f()
    except (ValueError, IndexError, TypeError) as e:
        print(type(e).__name__, e)
