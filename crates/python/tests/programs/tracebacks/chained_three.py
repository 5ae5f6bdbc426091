def a():
    raise KeyError('a')
def b():
    try:
        a()
    except KeyError as e:
        raise TypeError('b') from e
def c():
    try:
        b()
    except TypeError:
        raise ValueError('c')
c()
