import sys
try:
    raise ValueError('v')
except ValueError:
    t, v, tb = sys.exc_info()
    print(t.__name__, v, tb is not None)
print(sys.exc_info())
