import warnings
def f():
    warnings.warn('old api', DeprecationWarning, stacklevel=2)
    warnings.warn('look out')
f()
print('after')
