import traceback, sys
def fail(kinds):
    raise ExceptionGroup('many', [k(i) for i, k in enumerate(kinds)])
for kinds in ([ValueError, TypeError], [ValueError], [KeyError, ValueError], [OSError]):
    try:
        try:
            fail(kinds)
        except* ValueError as eg:
            print('V', eg, eg.exceptions)
        except* (TypeError, KeyError) as eg:
            print('T', eg, eg.exceptions)
        else:
            print('none')
        finally:
            print('fin')
    except ExceptionGroup as rest:
        print('rest', rest, rest.exceptions)
try:
    raise ValueError('naked')
except* ValueError as e:
    print(type(e), e.exceptions)
try:
    pass
except* ValueError:
    print('no')
else:
    print('else')
try:
    try:
        raise ExceptionGroup('a', [ValueError(1), TypeError(2)])
    except* ValueError:
        raise KeyError('new')
except ExceptionGroup as e:
    print(repr(e))
    traceback.print_exc(file=sys.stdout)
try:
    try:
        raise ExceptionGroup('a', [ValueError(1), ExceptionGroup('b', [ValueError(3), TypeError(2)])])
    except* ValueError:
        raise
except ExceptionGroup as e:
    print(repr(e))
for _ in range(1):
    try:
        raise ExceptionGroup('z', [ValueError()])
    except* ValueError:
        pass
try:
    try: raise TypeError('t')
    except* ValueError: print('x')
except TypeError as e: print(repr(e))
try:
    try: raise ValueError('t')
    except* ExceptionGroup: print('x')
except TypeError as e: print(e)
raise ExceptionGroup('final', [ValueError('a'), ExceptionGroup('nested', [KeyError('b'), TypeError('c')])])
