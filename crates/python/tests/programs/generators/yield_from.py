def inner(n):
    r = yield from range(n)
    x = yield 'mid'
    print('x', x)
    return n * 10
def outer():
    a = yield from inner(2)
    b = yield from inner(1)
    return a, b
def run():
    r = yield from outer()
    print('result', r)
print(list(run()))
def tree(t):
    if isinstance(t, list):
        for x in t:
            yield from tree(x)
    else:
        yield t
print(list(tree([1, [2, [3, 4]], 5])))
g = outer(); print(next(g), next(g), next(g), g.send('hi'))
