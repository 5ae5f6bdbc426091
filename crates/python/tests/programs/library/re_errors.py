import re
for p in ['(', ')', '[a', '*', 'a**', '\\q', '\\', '[z-a]', '(a)\\2', '(?P<n>a)(?P<n>b)', '(?P=x)', 'a{3,2}', '(?P<1>a)', 'x{1}{2}']:
    try:
        re.compile(p)
        print(p, 'ok')
    except re.error as e:
        print(repr(p), e, e.pos)
for bad in ('\\2', '\\g<x>', '\\q'):
    try:
        re.sub('(a)', bad, 'a')
    except (re.error, IndexError) as e:
        print(type(e).__name__, e)
try:
    re.match('a', 5)
except TypeError as e:
    print(e)
