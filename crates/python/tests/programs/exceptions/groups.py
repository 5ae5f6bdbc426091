try:
    raise ExceptionGroup('several', [ValueError('a'), TypeError('b')])
except ExceptionGroup as g:
    print(g.message, [type(e).__name__ for e in g.exceptions], g)
