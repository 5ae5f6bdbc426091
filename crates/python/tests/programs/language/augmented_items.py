counts = {'a': 1}
counts['a'] += 1
counts['a'] <<= 4
xs = [1, 2, 3]
xs[0] += 10
xs[-1] *= 2
xs[1:2] += [7]
print(counts, xs)
i = 0
def at():
    global i
    i += 1
    return i
xs[at()] += 100
print(xs, i)
t = ([],)
try:
    t[0] += [1]
except TypeError as e:
    print(e, t)
