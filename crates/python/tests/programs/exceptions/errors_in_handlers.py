def f():
    try:
        raise ValueError('one')
    except ValueError:
        try:
            raise KeyError('two')
        except KeyError as e:
            print(repr(e.__context__))
        raise
try:
    f()
except ValueError as e:
    print(repr(e), e.__context__)
