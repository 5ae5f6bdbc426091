import warnings
with warnings.catch_warnings(record=True) as w:
    warnings.simplefilter('always')
    warnings.warn('one'); warnings.warn('two', DeprecationWarning)
    print([(str(x.message), x.category.__name__) for x in w])
warnings.filterwarnings('ignore')
warnings.warn('silent')
with warnings.catch_warnings():
    warnings.simplefilter('error')
    try:
        warnings.warn('raised', RuntimeWarning)
    except RuntimeWarning as e:
        print('caught', e)
warnings.resetwarnings()
class MyWarning(UserWarning): pass
for i in range(2):
    warnings.warn('shown once', MyWarning)
