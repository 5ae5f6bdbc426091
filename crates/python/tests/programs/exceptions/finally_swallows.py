def f():
    try:
        raise ValueError('lost')
    finally:
        return 'kept'
print(f())
def g():
    while True:
        try:
            1 / 0
        finally:
            break
    return 'out'
print(g())
