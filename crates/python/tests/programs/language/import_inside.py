def f(x):
    import math
    from math import ceil
    return math.sqrt(x), ceil(x)
print(f(6.25))
try:
    math
except NameError as e:
    print(e)
try:
    import no_such_module
except ImportError as e:
    print(type(e).__name__, e, e.name)
try:
    from math import nothing_here
except ImportError as e:
    print(type(e).__name__, str(e).split(' (')[0])
