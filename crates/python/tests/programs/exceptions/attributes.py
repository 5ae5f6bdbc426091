try:
    raise ValueError('a', 1)
except ValueError as e:
    print(e.args, str(e), repr(e), e.__cause__, e.__context__)
try:
    {}['k']
except KeyError as e:
    print(e.args, str(e), repr(e))
try:
    raise OSError(2, 'No such file', 'x.txt')
except OSError as e:
    print(e.errno, e.strerror, e.filename, e, type(e).__name__)
try:
    next(iter(()))
except StopIteration as e:
    print(e.value, e.args)
try:
    raise SystemExit(3)
except SystemExit as e:
    print(e.code)
print(repr(ValueError()), repr(KeyError('x', 1)), str(Exception()), Exception('a') == Exception('a'))
