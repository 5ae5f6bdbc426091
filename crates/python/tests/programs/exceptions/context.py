try:
    try:
        raise KeyError('inner')
    except KeyError:
        raise ValueError('outer')
except ValueError as e:
    print(repr(e.__context__), e.__cause__, e.__suppress_context__)
try:
    try:
        raise KeyError('inner')
    except KeyError as k:
        raise ValueError('outer') from k
except ValueError as e:
    print(repr(e.__cause__), e.__suppress_context__)
try:
    raise ValueError('x') from None
except ValueError as e:
    print(e.__cause__, e.__suppress_context__)
