def f(n):
    try:
        try:
            if n == 0: raise KeyError
            if n == 1: raise IndexError
            if n == 2: raise ValueError
        except KeyError:
            return 'key'
        finally:
            n += 10
    except IndexError:
        return f'index {n}'
    else:
        return f'clean {n}'
for i in (0, 1, 3):
    print(f(i))
try:
    f(2)
except ValueError as e:
    print(repr(e), repr(e.__context__))
