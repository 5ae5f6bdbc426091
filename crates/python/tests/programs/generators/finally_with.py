from contextlib import contextmanager
def g():
    try:
        yield 1
        yield 2
    finally:
        print('finalised')
for x in g():
    print(x)
    if x == 1:
        break
print('after loop')
it = g()
next(it)
del it
print('after del')
@contextmanager
def ctx():
    try:
        yield 'value'
    except ValueError as e:
        print('handled', e)
with ctx() as v:
    raise ValueError(v)
