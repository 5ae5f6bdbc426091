def count(n):
    print('start')
    for i in range(n):
        yield i
    print('end')
g = count(2)
print(next(g), next(g))
try:
    next(g)
except StopIteration:
    print('stopped')
print(list(count(3)), sum(count(4)), next(count(0), 'none'))
def fib():
    a, b = 0, 1
    while True:
        yield a
        a, b = b, a + b
import itertools
print(list(itertools.islice(fib(), 10)))
