from contextlib import contextmanager
@contextmanager
def tag(t):
    print(f'<{t}>')
    try:
        yield t
    finally:
        print(f'</{t}>')
with (tag('a') as x, tag('b')):
    print('body', x)
def f():
    with tag('f'):
        return 'returned'
print(f())
for i in range(2):
    with tag(i):
        if i == 0:
            continue
        break
with tag('t') as (u):
    print(u)
