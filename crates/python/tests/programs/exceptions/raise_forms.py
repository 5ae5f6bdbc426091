for thing in (ValueError, ValueError('inst'), KeyError('k')):
    try:
        raise thing
    except Exception as e:
        print(repr(e))
for bad in (5, 'text', None, int):
    try:
        raise bad
    except TypeError as e:
        print(e)
try:
    raise ValueError('x') from 5
except TypeError as e:
    print(e)
try:
    raise
except RuntimeError as e:
    print(e)
