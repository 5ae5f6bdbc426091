def g():
    yield 1
    return 'result'
it = g()
next(it)
try:
    next(it)
except StopIteration as e:
    print(e.value)
def bad():
    raise StopIteration('x')
    yield
try:
    next(bad())
except RuntimeError as e:
    print(e, repr(e.__cause__))
